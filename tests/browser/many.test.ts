// Logs that are large in one way or another: the page shows all of them, and draws only what is seen.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Page } from 'playwright-core';

import { chart, eventually, open, points, runNames, screenshot } from './browser.ts';
import { pageLog, Server } from './sonde.ts';

// A chart follows a filter, or a log that is still being read, a moment later.
const drawn = (page: Page, tag: string, count: number) =>
  eventually(async () => (await points(await chart(page, tag))) === count, `${count} points of ${tag}`);

test('10,000 runs are listed, filtered and counted', async (t) => {
  const server = await Server.start(pageLog('many', 10_000, 1, 2));
  const page = await open(t, server);
  const panel = page.getByRole('complementary', { name: 'Runs' });
  await eventually(async () => /10,000/.test(await panel.innerText()), 'the number of runs');
  assert.ok((await page.locator('[data-run]').count()) < 200, 'only those that are seen are in the document');
  await page.getByRole('searchbox', { name: /filter runs/i }).fill('^run_0999[0-4]$');
  await eventually(async () => (await runNames(page)).length === 5, 'five runs');
  await drawn(page, 'group_00/tag_0000', 10);
  await screenshot(page, 'many-runs');
});

test('a chart of more runs than it draws says how many it leaves out', async (t) => {
  const server = await Server.start(pageLog('many', 230, 2, 2));
  const page = await open(t, server, { at: 'metrics' });
  const card = page.locator('[data-card="metrics:group_00/tag_0000"]');
  await chart(page, 'group_00/tag_0000');
  await eventually(async () => /200 of 230 runs drawn: filter to see others/.test(await card.innerText()), 'how many are drawn');
  await page.getByRole('button', { name: /mean/ }).click();
  await eventually(async () => /mean.*200 of 230 runs drawn/.test(await card.innerText()), 'that the mean is of as many');
  await page.getByRole('searchbox', { name: /filter runs/i }).fill('run_0022');
  await eventually(async () => {
    const text = await card.innerText();
    return /10 runs/.test(text) && !/drawn/.test(text);
  }, 'all that match');
});

test('1,000 tags of 10 runs have a place each, and are drawn where one looks', async (t) => {
  const server = await Server.start(pageLog('many', 10, 1000, 10));
  const page = await open(t, server, { at: 'metrics' });
  await drawn(page, 'group_00/tag_0000', 100);
  assert.ok((await page.locator('[data-chart]').count()) < 100);
  await page.getByRole('searchbox', { name: /filter tags/i }).fill('tag_0999');
  await drawn(page, 'group_19/tag_0999', 100);
  await page.getByRole('searchbox', { name: /filter tags/i }).fill('');
  await chart(page, 'group_00/tag_0000');
  const layers = await page.locator('[data-chart="group_00/tag_0000"] canvas').elementHandles();
  assert.ok(layers.length > 0);
  await page.getByRole('main').hover();
  await eventually(async () => {
    await page.mouse.wheel(0, 20_000);
    return (await page.locator('[data-chart="group_19/tag_0999"][data-ready]').count()) === 1;
  }, 'the last card');
  assert.ok((await page.locator('[data-chart]').count()) < 100, 'cards far away are only places');
  for (const layer of layers) {
    const gone = () => layer.evaluate((canvas) => !canvas.isConnected && (canvas as HTMLCanvasElement).width === 0);
    await eventually(gone, 'that what is far away keeps no pixels');
  }
  await screenshot(page, 'many-tags');
});

test('a million points can be looked at one by one', async (t) => {
  const server = await Server.start(pageLog('many', 1, 1, 1_000_000));
  const tag = 'group_00/tag_0000';
  const page = await open(t, server, { at: 'metrics' });
  await drawn(page, tag, 1_000_000);
  const near = await open(t, server, { at: 'metrics?x=500000~500010' });
  await drawn(near, tag, 11);
  await screenshot(near, 'million-points-zoomed');
});
