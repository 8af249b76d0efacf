// All cards of 1,000 tags in 10 runs, scrolled past three times: how long the page cannot answer, and what it keeps.
import type { Browser, Page } from 'playwright-core';

import { Server } from '../../tests/browser/sonde.ts';
import { type Row, heap, longTasks, recordedLog, watchedPage } from './measure.ts';

interface Pass {
  longest: number; // ms
  seen: number; // tags whose chart has drawn its data
  heap: number; // bytes
}

async function scrollThrough(page: Page, down: boolean): Promise<Pass> {
  const seen = new Set<string>();
  let longest = 0;
  for (;;) {
    await page.mouse.wheel(0, down ? 1200 : -1200);
    await page.waitForTimeout(60);
    for (const tag of await page.locator('[data-chart][data-ready]').evaluateAll((all) => all.map((one) => one.getAttribute('data-chart') ?? ''))) {
      seen.add(tag);
    }
    longest = Math.max(longest, ...(await longTasks(page)));
    const left = await page.locator('[data-scroller]').first().evaluate(
      (element, forward) => (forward ? element.scrollHeight - element.clientHeight - element.scrollTop : element.scrollTop),
      down,
    );
    if (left < 2) break;
  }
  await page.waitForTimeout(1000);
  return { longest, seen: seen.size, heap: await heap(page) };
}

export async function scroll(browser: Browser): Promise<Row> {
  const server = await Server.start(recordedLog(10, 1000, 100));
  const page = await watchedPage(browser);
  await page.goto(`${server.url}#/metrics`);
  await page.locator('[data-chart][data-ready]').first().waitFor({ state: 'attached' });
  await page.waitForTimeout(1000);
  await longTasks(page); // those of opening the page are another question
  await page.mouse.move(800, 400);
  const passes = [];
  for (const down of [true, false, true]) passes.push(await scrollThrough(page, down));
  await page.context().close();
  await server.stop();
  const longest = Math.max(...passes.map((one) => one.longest));
  const seen = Math.max(...passes.map((one) => one.seen));
  const [first, last] = [passes[0]?.heap ?? 0, passes[2]?.heap ?? Infinity];
  return {
    what: `1,000 tags x 10 runs: scrolling through all cards, 3 times`,
    limit: 'no task over 200 ms, memory steady',
    measured: `longest task ${longest.toFixed(0)} ms; heap ${(first / 1e6).toFixed(1)}, later ${(last / 1e6).toFixed(1)} MB; ${seen} charts seen drawn`,
    ratio: 200 / Math.max(50, longest), // tasks below 50 ms are not reported
    met: longest <= 200 && last < first * 1.2,
  };
}
