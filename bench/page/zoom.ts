// One series of 10M points, zoomed in and out: from the release of the button to the frame with the points of the range.
import type { Browser } from 'playwright-core';

import { Server } from '../../tests/browser/sonde.ts';
import { type Row, median, scalarsLog, timed, watchedPage } from './measure.ts';

const points = 10_000_000;
const views = 20;

export async function zoom(browser: Browser): Promise<Row> {
  const server = await Server.start(scalarsLog(1, 1, points));
  const page = await watchedPage(browser);
  await page.goto(`${server.url}#/metrics`);
  const tag = 'layer_0/loss';
  await page.locator(`[data-chart="${tag}"][data-ready][data-points="${points}"]`).first().waitFor({ state: 'attached' });
  const chart = page.locator(`[data-chart="${tag}"] canvas`).first();
  const drawn = `[data-chart="${tag}"][data-ready]`;
  // To the frame after `data-points` has become another number.
  const measure = async (event: string, action: () => Promise<void>) => {
    const old = await page.locator(drawn).first().getAttribute('data-points');
    return timed(page, event, drawn, `[data-chart="${tag}"][data-points="${old}"]`, action);
  };
  const times: number[] = [];
  while (times.length < views) {
    for (let depth = 0; depth < 4 && times.length < views; ++depth) {
      const box = await chart.boundingBox();
      if (!box) throw new Error('the chart is not there');
      await page.mouse.move(box.x + box.width * 0.3, box.y + box.height * 0.4);
      await page.mouse.down();
      await page.mouse.move(box.x + box.width * 0.6, box.y + box.height * 0.5, { steps: 4 });
      times.push(await measure('pointerup', () => page.mouse.up()));
    }
    const box = await chart.boundingBox();
    if (!box) throw new Error('the chart is not there');
    times.push(await measure('dblclick', () => page.mouse.dblclick(box.x + box.width * 0.5, box.y + box.height * 0.5)));
  }
  await page.context().close();
  await server.stop();
  const worst = Math.max(...times);
  return {
    what: `a series of 10M points, zoomed in and out ${times.length} times, the slowest`,
    limit: '<= 100 ms',
    measured: `${worst.toFixed(0)} ms (median ${median(times).toFixed(0)} ms)`,
    ratio: 100 / worst,
    met: worst <= 100,
  };
}
