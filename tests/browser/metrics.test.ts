// Scalars: how they are drawn, looked into, compared and taken home.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import type { Locator, Page } from 'playwright-core';

import { chart, eventually, inkOf, open, points, screenshot } from './browser.ts';
import { demoLog, goldenLog, pageLog, Server } from './sonde.ts';

const trials = await Server.start(pageLog('trials'));
const demo = await Server.start(demoLog());
const broken = await Server.start(demoLog('--fault', 'nan'));
const torch = await Server.start(goldenLog('torch'));

const picture = (of: Locator) => of.locator('canvas').first();
const toolbar = (page: Page) => page.getByRole('toolbar', { name: 'How charts are drawn' });
const inAddress = (page: Page, pattern: RegExp) => eventually(async () => pattern.test(decodeURIComponent(page.url())), `${pattern} in the address`);

// Everything that is in the picture of the chart, as bytes to compare.
const seen = async (of: Locator) => (await picture(of).screenshot()).toString('base64');

async function changes(of: Locator, action: () => Promise<unknown>): Promise<void> {
  const before = await seen(of);
  await action();
  await eventually(async () => (await seen(of)) !== before, 'another picture');
}

async function drag(page: Page, of: Locator, from: number, to: number, key?: 'Shift' | 'Alt'): Promise<void> {
  const box = (await of.boundingBox())!;
  const [left, width] = [box.x + 60, box.width - 80];
  if (key) await page.keyboard.down(key);
  await page.mouse.move(left + width * from, box.y + box.height * 0.5);
  await page.mouse.down();
  await page.mouse.move(left + width * to, box.y + box.height * 0.5, { steps: 5 });
  await page.mouse.up();
  if (key) await page.keyboard.up(key);
}

async function hover(page: Page, of: Locator, x = 0.5, y = 0.5): Promise<Locator> {
  const box = (await of.boundingBox())!;
  await page.mouse.move(box.x + box.width * x, box.y + box.height * y);
  const tip = page.locator('.tooltip');
  await tip.waitFor();
  return tip;
}

test('cards stand in the groups of their tags, which fold', async (t) => {
  const page = await open(t, torch, { at: 'metrics' });
  await chart(page, 'loss/train');
  const cards = page.locator('[data-place^="metrics:loss/"]');
  assert.equal(await cards.count(), 4);
  await page.getByRole('heading', { name: /^loss 4$/ }).getByRole('button').click();
  await eventually(async () => (await cards.count()) === 0, 'a folded group');
  assert.ok((await page.locator('[data-place^="metrics:"]').count()) > 0);
});

test('cards far away are drawn when one gets there', async (t) => {
  const page = await open(t, torch, { at: 'metrics', viewport: { width: 1280, height: 500 } });
  await chart(page, 'loss/train');
  const places = await page.locator('[data-place]').count();
  assert.ok((await page.locator('[data-chart]').count()) < places);
  await page.locator('[data-place="metrics:special values"]').scrollIntoViewIfNeeded();
  assert.equal(await points(await chart(page, 'special values')), 7);
});

test('the horizontal axis is step, relative or wall time', async (t) => {
  const page = await open(t, trials, { at: 'metrics' });
  const loss = await chart(page, 'loss');
  for (const axis of ['Relative', 'Wall']) {
    await changes(loss, () => toolbar(page).getByRole('button', { name: axis, exact: true }).click());
    await inAddress(page, new RegExp(`axis=${axis.toLowerCase()}`));
    await eventually(async () => (await points(loss)) === 1200, 'all points');
  }
});

test('both axes may be logarithmic, for all charts or for one', async (t) => {
  const page = await open(t, trials, { at: 'metrics?smooth=0' });
  const loss = await chart(page, 'loss');
  await changes(loss, () => toolbar(page).getByRole('button', { name: 'log y' }).click());
  await screenshot(page, 'metrics-log');
  await changes(loss, () => toolbar(page).getByRole('button', { name: 'log x' }).click());
  await toolbar(page).getByRole('button', { name: 'log y' }).click();
  await loss.hover();
  await changes(loss, async () => {
    await page.getByRole('button', { name: 'More about loss' }).first().click();
    await page.getByLabel('Logarithmic y').check();
  });
});

test('the vertical range is fitted, or fixed by hand', async (t) => {
  const page = await open(t, trials, { at: 'metrics' });
  const loss = await chart(page, 'loss');
  await loss.hover();
  await page.getByRole('button', { name: 'More about loss' }).first().click();
  const top = page.getByLabel('y to');
  await changes(loss, async () => {
    await top.fill('10');
    await top.press('Enter');
    await page.keyboard.press('Escape'); // the menu covers the chart
  });
  await inAddress(page, /cards=.*10/);
});

test('smoothing draws a smoother line and leaves the raw one behind it', async (t) => {
  const page = await open(t, demo, { at: 'metrics?smooth=0' });
  const loss = await chart(page, 'loss');
  await changes(loss, async () => {
    await page.getByRole('slider', { name: 'Smoothing' }).fill('0.9');
  });
  await inAddress(page, /smooth=0\.9/);
  const tip = await hover(page, loss);
  // The raw value, then that of the smoothed line.
  const numbers = (await tip.locator('tbody tr').first().locator('td.num').allInnerTexts()).map((text) => text.trim()).filter((text) => text !== '');
  assert.ok(numbers.length >= 2, numbers.join());
  assert.notEqual(numbers[0], numbers[1]);
  await screenshot(page, 'metrics-smoothed');
});

test('outliers are clipped unless one wants to see them', async (t) => {
  const page = await open(t, broken, { at: 'metrics?smooth=0' });
  await chart(page, 'loss');
  const button = toolbar(page).getByRole('button', { name: 'clip outliers' });
  assert.equal(await button.getAttribute('aria-pressed'), 'true');
  await button.click();
  await inAddress(page, /clip=0/);
});

test('a drag zooms and asks again, for exactly the points in view', async (t) => {
  const page = await open(t, trials, { at: 'metrics' });
  const loss = await chart(page, 'loss');
  assert.equal(await points(loss), 1200);
  await drag(page, loss, 0.25, 0.5);
  await inAddress(page, /[?&]x=/);
  const [from, to] = /x=([\d.]+)~([\d.]+)/.exec(decodeURIComponent(page.url()))!.slice(1).map(Number);
  const wanted = 6 * (Math.floor(to!) - Math.ceil(from!) + 1);
  await eventually(async () => (await points(loss)) === wanted, `${wanted} points`);
  assert.ok(wanted < 500);
  // All charts follow.
  await eventually(async () => (await points(await chart(page, 'accuracy'))) === wanted, 'the same range elsewhere');
  await screenshot(page, 'metrics-zoomed');
  await changes(loss, () => drag(page, loss, 0.5, 0.3, 'Shift'));
  await loss.dblclick();
  await eventually(async () => (await points(loss)) === 1200, 'everything again');
});

test('wheel and keys zoom as well', async (t) => {
  const page = await open(t, trials, { at: 'metrics' });
  const loss = await chart(page, 'loss');
  await loss.hover();
  await page.keyboard.down('Control');
  await page.mouse.wheel(0, -300);
  await page.keyboard.up('Control');
  await eventually(async () => (await points(loss)) < 1200, 'fewer points');
  await loss.focus();
  await page.keyboard.press('0');
  await eventually(async () => (await points(loss)) === 1200, 'everything again');
  await page.keyboard.press('+');
  await eventually(async () => (await points(loss)) < 1200, 'fewer points');
});

test('the crosshair is in every chart', async (t) => {
  const page = await open(t, trials, { at: 'metrics' });
  const loss = await chart(page, 'loss');
  const accuracy = await chart(page, 'accuracy');
  const overlay = accuracy.locator('canvas').nth(1);
  const without = await inkOf(overlay);
  await hover(page, loss);
  await eventually(async () => (await inkOf(overlay)) !== without, 'the line in the other chart');
});

test('the tooltip is sorted by value, nearness or name', async (t) => {
  const page = await open(t, trials, { at: 'metrics?smooth=0' });
  const loss = await chart(page, 'loss');
  const names = async () => (await (await hover(page, loss, 0.3, 0.75)).locator('td.name').allInnerTexts()).map((text) => text.trim());
  const values = async () => (await page.locator('.tooltip tr td:nth-child(3)').allInnerTexts()).map(Number);
  await names();
  const byValue = await values();
  assert.equal(byValue.length, 6);
  assert.deepEqual(byValue, [...byValue].sort((a, b) => b - a));
  await page.getByRole('button', { name: 'Chart settings' }).click();
  await page.getByRole('group', { name: 'Tooltip sorted by' }).getByRole('button', { name: 'name' }).click();
  await page.keyboard.press('Escape');
  const byName = await names();
  assert.deepEqual(byName, [...byName].sort());
  await page.getByRole('button', { name: 'Chart settings' }).click();
  await page.getByRole('group', { name: 'Tooltip sorted by' }).getByRole('button', { name: 'nearest' }).click();
  await page.keyboard.press('Escape');
  assert.equal((await names()).length, 6);
  await screenshot(page, 'metrics-tooltip');
});

test('the tooltip says where the pointer is, and what was not finite there', async (t) => {
  const page = await open(t, broken, { at: 'metrics' });
  const tip = await hover(page, await chart(page, 'loss'), 0.97);
  assert.match(await tip.locator('.tooltip-head').innerText(), /^step [\d,]+/);
  assert.deepEqual(await tip.locator('thead th').allInnerTexts(), ['value', 'smoothed']);
  assert.match(await tip.locator('tbody tr', { hasText: 'train' }).first().innerText(), /NaN/);
});

test('what is under a resting pointer follows a zoom', async (t) => {
  const page = await open(t, trials, { at: 'metrics' });
  const loss = await chart(page, 'loss');
  const head = page.locator('.tooltip-head');
  const step = async () => Number((await head.innerText()).replace(/^step ([\d,]+).*$/s, '$1').replace(',', ''));
  await hover(page, loss, 0.6);
  const before = await step();
  await drag(page, loss, 0.2, 0.5);
  const box = (await loss.boundingBox())!;
  await inAddress(page, /[?&]x=/);
  const [, lo = 0, hi = 0] = /x=([\d.]+)~([\d.]+)/.exec(decodeURIComponent(page.url()))!.map(Number);
  // The pointer rests at 0.5 of where the test drags: from 52 to 12 pixels before the end the axis goes.
  const expected = lo + ((hi - lo) * (60 + (box.width - 80) * 0.5 - 52)) / (box.width - 64);
  await eventually(async () => Math.abs((await step()) - expected) <= 1.5, `step ${expected}, no longer about ${before}`);
});

test('a double click shows everything, and leaves the step cursor alone', async (t) => {
  const page = await open(t, trials, { at: 'metrics?step=50&x=20~120' });
  const loss = await chart(page, 'loss');
  await loss.dblclick();
  await eventually(async () => !/[?&]x=/.test(page.url()), 'everything in view');
  await inAddress(page, /step=50(&|$)/);
});

test('on an axis of time a click means the run that was there', async (t) => {
  const page = await open(t, demo, { at: 'metrics?axis=wall&smooth=0' });
  const loss = await chart(page, 'loss');
  const box = (await loss.boundingBox())!;
  for (const at of [0.4, 0.7]) {
    await page.mouse.click(box.x + 52 + (box.width - 64) * at, box.y + box.height * 0.6);
    const step = await eventually(async () => Number(/step=(\d+)/.exec(page.url())?.[1] ?? 0), 'a step in the address');
    assert.ok(step > 50 && step < 999, `step ${step}`);
  }
});

test('a step has a table of values', async (t) => {
  const page = await open(t, trials, { at: 'metrics?smooth=0&step=100' });
  await chart(page, 'loss');
  await toolbar(page).getByRole('button', { name: 'Tables of values' }).click();
  const table = page.getByRole('region', { name: /Values of loss, step 100/ });
  await table.waitFor();
  // exp(-0.01 * 100) + 0.1 * seed
  await eventually(async () => /0\.3679/.test(await table.getByRole('row', { name: /slow\/0/ }).innerText()), 'the value of slow/0');
  assert.match(await table.getByRole('row', { name: /slow\/2/ }).innerText(), /0\.5679/);
});

test('a marked range has a table with minimum, maximum, mean and change', async (t) => {
  const page = await open(t, trials, { at: 'metrics?smooth=0&range=0~100&table=1' });
  await chart(page, 'loss');
  const table = page.getByRole('region', { name: /Values of loss, steps 0 to 100/ });
  const row = table.getByRole('row', { name: /slow\/0/ });
  await eventually(async () => /0\.3679/.test(await row.innerText()), 'the last value');
  const cells = (await row.locator('td').allInnerTexts()).map((text) => Number(text.replace('−', '-').replace(',', '')));
  const [min, max, mean, delta, count, value] = cells;
  let sum = 0;
  for (let step = 0; step <= 100; ++step) sum += Math.exp(-0.01 * step);
  assert.deepEqual([value, min, max, delta, count], [0.3679, 0.3679, 1, -0.6321, 101]);
  assert.ok(Math.abs(mean! - sum / 101) < 1e-3);
  await screenshot(page, 'metrics-table');
  // And by hand.
  await table.getByRole('button', { name: 'clear' }).click();
  await drag(page, await chart(page, 'loss'), 0.2, 0.6, 'Alt');
  await inAddress(page, /range=\d+~\d+/);
});

test('grouped runs have a mean and a spread', async (t) => {
  const page = await open(t, trials, { at: 'metrics' });
  const loss = await chart(page, 'loss');
  await changes(loss, () => toolbar(page).getByRole('button', { name: /mean/ }).click());
  await inAddress(page, /mean=1/);
  await eventually(async () => /2 groups/.test(await page.getByRole('region', { name: 'loss', exact: true }).first().innerText()), 'a group for fast and one for slow');
  await screenshot(page, 'metrics-spread');
});

test('a mean is smoothed as lines are', async (t) => {
  const page = await open(t, trials, { at: 'metrics?mean=1&smooth=0' });
  const loss = await chart(page, 'loss');
  const card = page.getByRole('region', { name: 'loss', exact: true }).first();
  assert.doesNotMatch(await card.innerText(), /smoothed/);
  await changes(loss, () => page.getByRole('slider', { name: 'Smoothing' }).fill('0.95'));
  assert.match(await card.innerText(), /smoothed in view/);
  await hover(page, loss, 0.5);
  await eventually(async () => /mean\s+smoothed\s+± std/.test(await page.locator('.tooltip').innerText()), 'both in the tooltip');
});

test('a mean over time has the step cursor, and a click sets it', async (t) => {
  const page = await open(t, trials, { at: 'metrics?mean=1&axis=relative&smooth=0' });
  const loss = await chart(page, 'loss');
  const box = (await loss.boundingBox())!;
  await page.mouse.click(box.x + 52 + (box.width - 64) * 0.3, box.y + box.height * 0.6);
  const step = await eventually(async () => Number(/step=(\d+)/.exec(page.url())?.[1] ?? 0), 'a step in the address');
  assert.ok(step > 0 && step < 199, `step ${step}`);
  const cursor = loss.locator('canvas').nth(1);
  await page.mouse.move(5, 5);
  await eventually(async () => (await inkOf(cursor)) > 0, 'the cursor in the chart');
});

test('a mean has a table of values', async (t) => {
  const page = await open(t, trials, { at: 'metrics?mean=1&smooth=0&step=100&table=1' });
  await chart(page, 'loss');
  const table = page.getByRole('region', { name: /Values of loss, step 100/ });
  // exp(-0.01 * 100) + 0.1 * the mean of 0, 1 and 2; the deviation of 0, 0.1 and 0.2
  await eventually(async () => /0\.4679\s+0\.0816\d*\s+0\.3679\s+0\.5679\s+3/.test(await table.getByRole('row', { name: /slow/ }).innerText()), 'the mean of slow');
  const range = await open(t, trials, { at: 'metrics?mean=1&smooth=0&range=0~100&table=1' });
  await chart(range, 'loss');
  const over = range.getByRole('region', { name: /Values of loss, steps 0 to 100/ });
  await eventually(async () => /0\.3679\s+1\.2\s.*\s3$/.test(await over.getByRole('row', { name: /slow/ }).innerText()), 'what the range has');
});

test('NaN and infinities are marked where they happened', async (t) => {
  const page = await open(t, torch, { at: 'metrics?tags=special&smooth=0' });
  const special = await chart(page, 'special values');
  assert.equal(await points(special), 7);
  const colours = await picture(special).evaluate((element) => {
    const canvas = element as HTMLCanvasElement;
    const copy = new OffscreenCanvas(canvas.width, canvas.height).getContext('2d', { willReadFrequently: true })!;
    copy.drawImage(canvas, 0, 0);
    const { data } = copy.getImageData(0, 0, canvas.width, canvas.height);
    const style = getComputedStyle(document.documentElement);
    const near = (name: string) => {
      const probe = new OffscreenCanvas(1, 1).getContext('2d')!;
      probe.fillStyle = style.getPropertyValue(name).trim();
      probe.fillRect(0, 0, 1, 1);
      const [r, g, b] = probe.getImageData(0, 0, 1, 1).data;
      let found = 0;
      for (let i = 0; i < data.length; i += 4) {
        if (data[i + 3]! > 200 && Math.abs(data[i]! - r!) + Math.abs(data[i + 1]! - g!) + Math.abs(data[i + 2]! - b!) < 30) found += 1;
      }
      return found;
    };
    return { nan: near('--nan'), inf: near('--inf') };
  });
  assert.ok(colours.nan > 0, 'a mark in the colour of NaN');
  assert.ok(colours.inf > 0, 'a mark in the colour of Inf');
  await screenshot(page, 'metrics-nonfinite');
});

test('several tags share one chart', async (t) => {
  const page = await open(t, trials, { at: 'metrics' });
  await chart(page, 'loss');
  await toolbar(page).getByRole('button', { name: 'New chart of several tags' }).click();
  const dialog = page.getByRole('dialog', { name: 'New chart' });
  await dialog.getByLabel('Title').fill('both');
  await dialog.getByLabel('loss', { exact: true }).check();
  await dialog.getByLabel('accuracy', { exact: true }).check();
  await dialog.getByRole('button', { name: 'Make the chart' }).click();
  assert.equal(await points(await chart(page, 'both')), 2400);
  await inAddress(page, /both/);
  await page.reload();
  assert.equal(await points(await chart(page, 'both')), 2400);
});

test("TensorBoard's custom scalars are charts", async (t) => {
  const page = await open(t, torch, { at: 'metrics' });
  const layout = await page.evaluate(async () => (await (await fetch('api/layouts')).json()) as { layouts: { categories: { title: string; charts: { title: string }[] }[] }[] });
  const category = layout.layouts[0]!.categories[0]!;
  const section = page.getByRole('region', { name: category.title, exact: true });
  await section.scrollIntoViewIfNeeded();
  const planned = section.locator(`[data-chart][data-ready]`).first();
  await planned.waitFor({ state: 'attached' });
  assert.ok((await points(planned)) > 0);
  await screenshot(page, 'metrics-layout');
});

test('a pinned card stands on top, also in a link', async (t) => {
  const page = await open(t, torch, { at: 'metrics' });
  const loss = await chart(page, 'loss/train');
  await loss.hover();
  await page.keyboard.press('p');
  await page.getByRole('region', { name: 'Pinned', exact: true }).locator('[data-place="metrics:loss/train"]').waitFor();
  await inAddress(page, /pin=/);
  const linked = await open(t, torch, { at: new URL(page.url()).hash.slice(2) });
  await linked.getByRole('region', { name: 'Pinned', exact: true }).locator('[data-chart="loss/train"]').waitFor();
});

test('a series is downloaded as CSV and JSON, a chart as PNG and SVG', async (t) => {
  const page = await open(t, trials, { at: 'metrics?show=%2Bslow/0' });
  const loss = await chart(page, 'loss');
  const download = async (click: (menu: Locator) => Promise<unknown>): Promise<Buffer> => {
    const button = page.getByRole('button', { name: 'More about loss' }).first();
    if ((await button.getAttribute('aria-expanded')) !== 'true') {
      await loss.hover();
      await button.click();
    }
    const [file] = await Promise.all([page.waitForEvent('download'), click(page.getByRole('group', { name: 'More about loss' }))]);
    return readFileSync(await file.path());
  };
  const csv = (await download((menu) => menu.getByRole('link', { name: /as CSV/ }).click())).toString();
  assert.match(csv, /^run,tag,step,wall_time,value\r?\n/);
  assert.equal(csv.trim().split('\n').length, 201);
  const json = JSON.parse((await download((menu) => menu.getByRole('link', { name: /as JSON/ }).click())).toString()) as number[][];
  assert.equal(json.length, 200);
  assert.equal(json[100]![1], 100);
  assert.ok(Math.abs(json[100]![2]! - Math.exp(-1)) < 1e-6);
  const png = await download((menu) => menu.getByRole('button', { name: /PNG/ }).click());
  assert.equal(png.subarray(1, 4).toString(), 'PNG');
  const svg = (await download((menu) => menu.getByRole('button', { name: /SVG/ }).click())).toString();
  assert.match(svg, /^<svg /);
  assert.match(svg, /slow\/0/);
});
