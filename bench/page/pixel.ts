// From the call that records a point to the frame that shows it.
import { join } from 'node:path';
import type { Browser } from 'playwright-core';

import { Job, newFolder, Server } from '../../tests/browser/sonde.ts';
import { type Row, median, watchedPage } from './measure.ts';

const points = 30;

export async function pixel(browser: Browser): Promise<Row> {
  const folder = newFolder();
  const job = new Job(join(folder, 'train'));
  await job.record('loss', 0, 1);
  const server = await Server.start(folder);
  const page = await watchedPage(browser);
  await page.goto(server.url);
  await page.locator('[data-chart="loss"][data-ready]').first().waitFor({ state: 'attached' });
  const times: number[] = [];
  for (let step = 1; step <= points; ++step) {
    const wanted = `[data-chart="loss"][data-ready][data-points="${step + 1}"]`;
    const begin = performance.now();
    const shown = page.waitForSelector(wanted, { state: 'attached' });
    await job.record('loss', step, 1 / (1 + step));
    await shown;
    await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => setTimeout(done))));
    times.push(performance.now() - begin);
    await new Promise((done) => setTimeout(done, 37 * (step % 11))); // so that no rhythm of ours meets one of theirs
  }
  await page.context().close();
  await server.stop();
  await job.finish();
  const worst = Math.max(...times);
  return {
    what: `a recorded point to its pixel, the latest of ${points}`,
    limit: '<= 500 ms',
    measured: `${worst.toFixed(0)} ms (median ${median(times).toFixed(0)} ms)`,
    ratio: 500 / worst,
    met: worst <= 500,
  };
}
