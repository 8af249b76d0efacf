// Histograms over time, in four pictures, from event files and from statistics files.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Locator, Page } from 'playwright-core';

import { chart, eventually, inkOf, open, points, screenshot } from './browser.ts';
import { demoLog, goldenLog, Server } from './sonde.ts';

const server = await Server.start(demoLog());
const broken = await Server.start(demoLog('--fault', 'nan'));
const torch = await Server.start(goldenLog('torch'));

const choose = (page: Page, group: string, name: string) =>
  page.getByRole('group', { name: group, exact: true }).getByRole('button', { name, exact: true }).click();

const picture = (card: Locator) => card.locator('canvas').first();

// A position in the chart with a tooltip: moves over it until one appears.
async function hoverUntilTip(page: Page, card: Locator): Promise<string> {
  const box = (await picture(card).boundingBox())!;
  for (let y = 0.9; y > 0.2; y -= 0.1) {
    for (let x = 0.3; x < 0.8; x += 0.1) {
      await page.mouse.move(box.x + box.width * x, box.y + box.height * y);
      const tip = page.getByRole('tooltip').first();
      if ((await tip.count()) > 0) {
        const text = await tip.innerText();
        if (/ of /.test(text) || /%/.test(text)) return text;
      }
    }
  }
  throw new Error('no tooltip anywhere on the chart');
}

test('every recorded step of a tensor is counted, and drawn as a heat map of the usual values', async (t) => {
  const page = await open(t, server, { at: 'distributions' });
  const card = await chart(page, 'activation/dense_1/out');
  assert.equal(await points(card), 50 + 51); // train and test
  assert.ok((await inkOf(picture(card))) > 500);
  assert.match(await card.innerText(), /51 steps/);
  assert.match((await picture(card).getAttribute('aria-label')) ?? '', /Heat map/);
  assert.equal(await page.getByRole('group', { name: 'Values' }).getByRole('button', { name: '99 %' }).getAttribute('aria-pressed'), 'true');
  await screenshot(page, 'distributions-heatmap');
});

test('a ridgeline says how many of the steps it draws', async (t) => {
  const page = await open(t, server, { at: 'distributions?dist=ridgeline' });
  const card = await chart(page, 'activation/dense_1/out');
  assert.ok((await inkOf(picture(card))) > 500);
  assert.match(await card.innerText(), /\d+ of 51 steps per run/);
  await screenshot(page, 'distributions-ridgeline');
});

for (const [mode, button] of [
  ['ridgeline', 'Ridgeline'],
  ['overlay', 'Overlay'],
  ['bands', 'Percentiles'],
] as const) {
  test(`one click draws them as ${mode}, and the address remembers it`, async (t) => {
    const page = await open(t, server, { at: 'distributions' });
    const card = await chart(page, 'activation/dense_1/out');
    const heatmap = await inkOf(picture(card));
    await choose(page, 'Chart', button);
    await eventually(async () => page.url().includes(`dist=${mode}`), 'the choice in the address');
    await eventually(async () => ![0, heatmap].includes(await inkOf(picture(card))), 'another picture');
    await screenshot(page, `distributions-${mode}`);
    await page.reload();
    const again = await chart(page, 'activation/dense_1/out');
    assert.match((await picture(again).getAttribute('aria-label')) ?? '', mode === 'bands' ? /Percentile/ : mode === 'ridgeline' ? /Ridgeline/ : /Overlay/);
  });
}

test('the pointer reads step, bin edges and count', async (t) => {
  const page = await open(t, server, { at: 'distributions?dist=overlay' });
  const tip = await hoverUntilTip(page, await chart(page, 'weight/dense_1/kernel'));
  assert.match(tip, /step [\d,]+/);
  assert.match(tip, /…/); // from edge to edge
  assert.match(tip, /[\d,]+ of 16,384/); // the kernel has 256 x 64 values
});

test('percentiles are those of the bins', async (t) => {
  const page = await open(t, server, { at: 'distributions?dist=bands' });
  const tip = await hoverUntilTip(page, await chart(page, 'weight/dense_1/kernel'));
  for (const percent of ['0', '6.68', '15.87', '30.85', '50', '69.15', '84.13', '93.32', '100']) {
    assert.match(tip, new RegExp(`(^|\\s)${percent.replace('.', '\\.')} %`));
  }
});

test('the percentiles of a tensor end with its largest value, not with the edge of a bin', async (t) => {
  const page = await open(t, server, { at: 'distributions?dist=bands&tags=^input' });
  const tip = await hoverUntilTip(page, await chart(page, 'input/input'));
  assert.match(tip, /(^|\s)100 %\s+1\s/); // pixels end at 1
});

test('a logarithmic value axis draws another picture', async (t) => {
  const page = await open(t, server, { at: 'distributions' });
  const card = await chart(page, 'activation/conv_1/out');
  const linear = await picture(card).screenshot();
  await choose(page, 'Value axis', 'Log');
  await eventually(async () => !(await picture(card).screenshot()).equals(linear), 'another picture');
  await screenshot(page, 'distributions-log');
});

test('a click on a step moves the cursor of all views', async (t) => {
  const page = await open(t, server, { at: 'distributions?dist=heatmap' });
  const card = await chart(page, 'activation/dense_1/out');
  const box = (await picture(card).boundingBox())!;
  await page.mouse.click(box.x + box.width * 0.5, box.y + box.height * 0.5);
  await eventually(async () => /[?&]step=\d+/.test(page.url()), 'the step in the address');
});

test('runs are side by side, or in one chart by their colours', async (t) => {
  const page = await open(t, server, { at: 'distributions?dist=ridgeline' });
  const card = await chart(page, 'activation/dense_1/out');
  assert.equal(await card.locator('canvas').count(), 2);
  await choose(page, 'Runs', 'Overlaid');
  await eventually(async () => (await card.locator('canvas').count()) === 1, 'one chart');
  assert.match(await card.innerText(), /train/);
  assert.match(await card.innerText(), /test/);
});

test('values that were not finite are named, not drawn as numbers', async (t) => {
  const page = await open(t, broken, { at: 'distributions?tags=dense_2/out' });
  const card = await chart(page, 'activation/dense_2/out');
  await eventually(async () => /NaN at [\d,]+/.test(await card.innerText()), 'the step of the first NaN');
  await screenshot(page, 'distributions-nan');
});

test('every picture names a NaN, also where its step is not drawn', async (t) => {
  for (const mode of ['ridgeline', 'overlay', 'heatmap', 'bands']) {
    const page = await open(t, broken, { at: `distributions?tags=brighten&dist=${mode}` });
    const card = page.locator('[data-chart*=brighten]').first();
    await eventually(async () => /NaN at 500/.test(await card.innerText()), `the step of the first NaN, ${mode}`);
  }
});

test('histograms of other writers show their own bins', async (t) => {
  const page = await open(t, torch, { at: 'distributions' });
  const card = await chart(page, 'weights');
  assert.equal(await points(card), 15);
  assert.ok((await inkOf(picture(card))) > 100);
  assert.equal(await points(await chart(page, 'constant')), 1);
  await screenshot(page, 'distributions-torch');
});

test('the tag filter leaves what matches', async (t) => {
  const page = await open(t, server, { at: 'distributions?tags=^gradient/' });
  await chart(page, 'gradient/conv_1/kernel');
  assert.equal(await page.locator('[data-chart^="activation/"]').count(), 0);
});

test('a card can be pinned to the top, and a link has it there', async (t) => {
  const page = await open(t, server, { at: 'distributions' });
  const card = await chart(page, 'activation/dense_2/out');
  await card.hover();
  await card.getByRole('button', { name: 'Pin to the top (p)' }).click();
  const pinned = page.getByRole('region', { name: 'Pinned', exact: true });
  await pinned.waitFor();
  await eventually(async () => /pin=distributions:activation\/dense_2\/out/.test(decodeURIComponent(page.url())), 'the pin in the address');
  const other = await open(t, server, { at: new URL(page.url()).hash.slice(2) + '&tags=nothing' });
  const first = other.getByRole('region', { name: 'Pinned', exact: true });
  await first.locator('[data-chart="activation/dense_2/out"][data-ready]').waitFor();
  assert.equal(await other.locator('[data-card="distributions:activation/dense_2/out"]').count(), 1, 'it stands nowhere else');
  await first.locator('[data-card]').hover();
  await other.keyboard.press('p');
  await eventually(async () => (await first.count()) === 0, 'none pinned');
});
