// What several questions need: logs that are made once, a page that watches itself, and rows of the table.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';

import { build, source } from '../../tests/browser/sonde.ts';

export const python = join(source, 'build/venv/bin/python');

// A bar and where it was found, as in bench/bars.py.
export interface Row {
  what: string;
  limit: string;
  measured: string;
  ratio: number; // above 1: better than the bar
  met: boolean;
}

export const median = (values: number[]): number => [...values].sort((a, b) => a - b)[values.length >> 1] ?? NaN;

// A log that `make` writes into a folder; kept in the build folder for the next time, and read once, so that the page
// cache holds it.
export function keptLog(name: string, make: (folder: string) => [string, ...string[]]): string {
  const folder = join(build, 'bench-logs', name);
  if (!existsSync(folder)) {
    const temporary = `${folder}.part`;
    rmSync(temporary, { recursive: true, force: true });
    mkdirSync(join(build, 'bench-logs'), { recursive: true });
    const [program, ...args] = make(temporary);
    execFileSync(program, args, { stdio: ['ignore', 'ignore', 'inherit'] });
    renameSync(temporary, folder);
  }
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    if (entry.isFile()) readFileSync(join(entry.parentPath, entry.name));
  }
  return folder;
}

export const scalarsLog = (runs: number, tags: number, steps: number): string =>
  keptLog(`scalars-${runs}-${tags}-${steps}`, (folder) => [
    python, '-B', join(source, 'bench/peers/make_log.py'), 'scalars', folder, `${runs}`, `${tags}`, `${steps}`,
  ]);

export const recordedLog = (runs: number, tags: number, steps: number): string =>
  keptLog(`recorded-${runs}-${tags}-${steps}`, (folder) => [
    join(build, 'tests/browser/page_logs'), 'many', folder, `${runs}`, `${tags}`, `${steps}`,
  ]);

// A page that remembers its long tasks: `longTasks` are the milliseconds of each since the last call.
export async function watchedPage(browser: Browser): Promise<Page> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
  context.setDefaultTimeout(120_000);
  const page = await context.newPage();
  await page.addInitScript(() => {
    const tasks: number[] = [];
    (globalThis as unknown as { longTasks: number[] }).longTasks = tasks;
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries()) tasks.push(entry.duration);
    }).observe({ type: 'longtask', buffered: true });
  });
  return page;
}

export const longTasks = (page: Page): Promise<number[]> =>
  page.evaluate(() => (globalThis as unknown as { longTasks: number[] }).longTasks.splice(0));

// Bytes of JavaScript objects that are still reachable.
export async function heap(page: Page): Promise<number> {
  const session = await page.context().newCDPSession(page);
  await session.send('HeapProfiler.collectGarbage');
  const { usedSize } = await session.send('Runtime.getHeapUsage');
  await session.detach();
  return usedSize;
}

// Milliseconds from the next `event` to the frame in which `wanted` matches and `unwanted` does not, measured inside the page
// while `action` makes the event.
export async function timed(page: Page, event: string, wanted: string, unwanted: string, action: () => Promise<void>): Promise<number> {
  type Waiting = { timed: Promise<number> };
  await page.evaluate(
    ([type, yes, no]) => {
      (globalThis as unknown as Waiting).timed = new Promise((done) => {
        const begun = () => {
          const begin = performance.now();
          const look = () => {
            if (document.querySelector(yes) && !document.querySelector(no)) setTimeout(() => done(performance.now() - begin));
            else requestAnimationFrame(look);
          };
          requestAnimationFrame(look);
        };
        addEventListener(type, begun, { once: true, capture: true });
      });
    },
    [event, wanted, unwanted] as const,
  );
  await action();
  return page.evaluate(() => (globalThis as unknown as Waiting).timed);
}
