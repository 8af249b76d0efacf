// Trials: hyper-parameters against metrics.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import type { Locator, Page } from 'playwright-core';

import { chart, eventually, inkOf, open, phone, points, screenshot } from './browser.ts';
import { goldenLog, pageLog, Server } from './sonde.ts';

const few = await Server.start(pageLog('trials')); // 6 runs: lr and optimizer, seed 0 to 2
const tuning = await Server.start(pageLog('tuning', 100)); // the loss of 2 of them is NaN

const parallel = (page: Page) => chart(page, 'parallel coordinates');
const picture = (card: Locator) => card.getByRole('img', { name: /^Parallel coordinates of/ });
const rows = (page: Page) => page.locator('[data-trial]').evaluateAll((all) => all.map((one) => one.getAttribute('data-trial') ?? ''));
const axisNames = (page: Page) => page.getByRole('button', { name: /^Axis / }).allInnerTexts();

// Drags along an axis, from one share of its height to another; 0 is the bottom.
async function brush(page: Page, axis: string, from: number, to: number): Promise<void> {
  const name = (await page.getByRole('button', { name: `Axis ${axis}`, exact: true }).boundingBox())!;
  const box = (await picture(await parallel(page)).boundingBox())!;
  const [top, bottom] = [box.y + 12, box.y + box.height - 36];
  const x = name.x + name.width / 2;
  const at = (share: number) => bottom - share * (bottom - top);
  await page.mouse.move(x, at(from));
  await page.mouse.down();
  await page.mouse.move(x, at((from + to) / 2));
  await page.mouse.move(x, at(to));
  await page.mouse.up();
}

test('a line a trial, an axis for each hyper-parameter that differs and each metric', async (t) => {
  const page = await open(t, tuning, { at: 'trials' });
  const card = await parallel(page);
  assert.equal(await points(card), 100);
  assert.deepEqual(await axisNames(page), ['augment', 'dropout', 'layers', 'lr', 'optimizer', 'loss', 'accuracy']);
  assert.ok((await inkOf(card.locator('canvas').nth(1))) > 5000, 'lines');
  await page.getByRole('img', { name: /^Colour: loss from/ }).waitFor();
  await screenshot(page, 'trials');
});

test('what is the same in all trials is no axis until it is asked for', async (t) => {
  const page = await open(t, few, { at: 'trials' });
  await parallel(page);
  assert.deepEqual(await axisNames(page), ['lr', 'seed', 'loss']);
  await page.getByRole('button', { name: 'Axes', exact: true }).click();
  await page.getByRole('checkbox', { name: 'optimizer' }).check();
  await page.getByRole('checkbox', { name: 'accuracy' }).check();
  await eventually(async () => (await axisNames(page)).join() === 'lr,seed,loss,optimizer,accuracy', 'two more axes');
});

test('a range on an axis keeps only its trials, here and in a link', async (t) => {
  const page = await open(t, tuning, { at: 'trials' });
  const card = await parallel(page);
  await brush(page, 'lr', 0.4, 0.6);
  await eventually(async () => (await points(card)) < 40 && (await points(card)) > 5, 'a fifth of the trials');
  const kept = await points(card);
  await page.getByText(`${kept} of 100 trials`).waitFor();
  await eventually(async () => (await rows(page)).length === kept, 'their rows');
  await eventually(async () => page.url().includes('tkeep='), 'the address');
  await screenshot(page, 'trials-brushed');
  await page.reload();
  assert.equal(await points(await parallel(page)), kept);
  await brush(page, 'accuracy', 0.6, 1);
  await eventually(async () => (await points(card)) < kept, 'both ranges hold');
  await page.getByRole('button', { name: 'Keep all', exact: true }).click();
  await eventually(async () => (await points(card)) === 100, 'all again');
});

test('a range of texts keeps the categories that it covers; a click takes it away', async (t) => {
  const page = await open(t, tuning, { at: 'trials' });
  const card = await parallel(page);
  await brush(page, 'optimizer', 0.3, 0.7);
  await eventually(async () => (await points(card)) === 33, 'every third trial has lion');
  await brush(page, 'optimizer', 0.5, 0.5);
  await eventually(async () => (await points(card)) === 100, 'all again');
});

test('an axis can be changed without a pointer', async (t) => {
  const page = await open(t, tuning, { at: 'trials' });
  const card = await parallel(page);
  await page.getByRole('button', { name: 'Axis layers', exact: true }).press('Enter');
  const from = page.getByRole('textbox', { name: 'Smallest layers' });
  await from.fill('7');
  await from.press('Enter');
  await eventually(async () => (await points(card)) === 28, 'trials of 7 and 8 layers');
  await page.getByRole('button', { name: 'Log', exact: true }).click();
  await eventually(async () => /tscales=.*layers.*log/.test(decodeURIComponent(page.url())), 'a logarithmic axis, in the address');
  await page.getByRole('button', { name: 'Move left' }).click();
  await eventually(async () => (await axisNames(page))[1] === 'layers', 'another order');
  await page.getByRole('button', { name: 'Axis augment', exact: true }).click();
  await page.getByRole('checkbox', { name: 'true' }).uncheck();
  await eventually(async () => (await points(card)) === 14, 'only those without');
  await page.getByRole('button', { name: 'Remove', exact: true }).click();
  await eventually(async () => !(await axisNames(page)).includes('augment'), 'one axis less');
  assert.equal(await points(card), 14, 'what is kept stays');
});

test('the pointer names the run in all three', async (t) => {
  const page = await open(t, few, { at: 'trials' });
  const card = await parallel(page);
  const box = (await picture(card).boundingBox())!;
  const lr = (await page.getByRole('button', { name: 'Axis lr', exact: true }).boundingBox())!;
  // The line that leaves the top of the first axis: a trial of the larger rate.
  await page.mouse.move(lr.x + lr.width / 2 + 1, box.y + 13);
  const tip = page.getByRole('tooltip');
  await tip.waitFor();
  assert.match(await tip.innerText(), /^fast\/\d/);
  assert.match(await tip.innerText(), /lr\s+0\.1\s+seed/);
  assert.equal(await page.locator('.trials-marked').count(), 1);
  await page.locator('[data-trial="slow/1"]').hover();
  await page.locator('[data-trial="slow/1"].trials-marked').waitFor();
});

test('any column over any other', async (t) => {
  const page = await open(t, tuning, { at: 'trials' });
  const card = await chart(page, 'scatter');
  await page.getByRole('combobox', { name: 'To the right' }).selectOption({ label: 'lr' });
  const canvas = card.getByRole('img', { name: 'loss over lr' });
  await canvas.waitFor();
  assert.equal(await points(card), 98, 'two have no finite loss');
  await page.getByRole('combobox', { name: 'Upwards' }).selectOption({ label: 'accuracy' });
  await card.getByRole('img', { name: 'accuracy over lr' }).waitFor();
  await eventually(async () => (await points(card)) === 100, 'all have an accuracy');
  assert.ok((await inkOf(card.locator('canvas').first())) > 1000);
  await card.scrollIntoViewIfNeeded();
  await screenshot(page, 'trials-scatter');
  await eventually(async () => /tx=h:lr/.test(page.url()) && /ty=m:accuracy/.test(page.url()), 'the address');
});

test('each metric over each hyper-parameter, and a click for a closer look', async (t) => {
  const page = await open(t, tuning, { at: 'trials' });
  await chart(page, 'scatter');
  await page.getByRole('button', { name: 'Matrix', exact: true }).click();
  const matrix = await chart(page, 'scatter matrix');
  assert.equal(await points(matrix), 100);
  assert.equal(await matrix.locator('canvas').count(), 2 * 5);
  await eventually(async () => (await inkOf(matrix.getByRole('button', { name: 'accuracy over dropout' }).locator('canvas'))) > 300, 'points');
  await screenshot(page, 'trials-matrix');
  await matrix.getByRole('button', { name: 'accuracy over layers' }).click();
  await (await chart(page, 'scatter')).getByRole('img', { name: 'accuracy over layers' }).waitFor();
});

test('the table is sorted by any column, and what has no number comes last', async (t) => {
  const page = await open(t, tuning, { at: 'trials' });
  await parallel(page);
  const loss = page.getByRole('columnheader', { name: /^loss/ });
  const column = async () => (await page.locator('[data-trial] td:nth-child(7)').allInnerTexts()).map(Number);
  await loss.getByRole('button').click();
  await eventually(async () => (await loss.getAttribute('aria-sort')) === 'ascending', 'sorted');
  const up = await column();
  assert.deepEqual(up, [...up].sort((a, b) => a - b));
  await loss.getByRole('button').click();
  await eventually(async () => (await loss.getAttribute('aria-sort')) === 'descending', 'the other way');
  const down = await column();
  assert.ok(down[0]! > up[0]! && !Number.isNaN(down[0]!));
  await page.getByRole('button', { name: /show more/ }).click();
  await eventually(async () => (await column()).length === 100, 'all rows');
  assert.ok((await column()).slice(-2).every(Number.isNaN));
});

test('the best value of a loss is its smallest', async (t) => {
  const page = await open(t, tuning, { at: 'trials' });
  await parallel(page);
  const cell = page.locator('[data-trial="trial_00049"] td').nth(5);
  assert.equal(await cell.innerText(), 'NaN');
  await page.getByRole('button', { name: 'Best', exact: true }).click();
  await eventually(async () => Number(await cell.innerText()) > 2, 'the only finite loss of the trial');
});

test('what is kept can be downloaded, and shown alone', async (t) => {
  const page = await open(t, few, { at: 'trials?tkeep={"h:seed":[1,1]}' });
  const card = await parallel(page);
  await eventually(async () => (await points(card)) === 2, 'two trials');
  const download = async (name: string) => {
    await page.getByRole('button', { name: /^Download/ }).click();
    const [file] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name, exact: true }).click()]);
    return readFileSync((await file.path())!, 'utf8');
  };
  assert.match(await download('CSV'), /^run,lr,seed,loss\r\nfast\/1,0\.1,1,0\.1\S*\r\nslow\/1,0\.01,1,0\.2\S*\r\n$/);
  const [first] = JSON.parse(await download('JSON')) as { run: string; hparams: object; metrics: object }[];
  assert.equal(first!.run, 'fast/1');
  assert.deepEqual(first!.hparams, { lr: 0.1, seed: 1 });
  assert.match(await download('LaTeX'), /\\begin\{tabular\}/);
  await page.getByRole('button', { name: 'Show only these 2 runs' }).click();
  await page.getByRole('link', { name: /Metrics/ }).click();
  await eventually(async () => page.url().includes('show=+') || page.url().includes('show=%2B'), 'only these runs, in all views');
});

test('another colour, also in a link', async (t) => {
  const page = await open(t, few, { at: 'trials' });
  await parallel(page);
  await page.getByRole('combobox', { name: 'Colour by' }).selectOption({ label: 'lr' });
  await page.getByRole('img', { name: /^Colour: lr from 0\.01 to 0\.1/ }).waitFor();
  await page.reload();
  await page.getByRole('img', { name: /^Colour: lr from 0\.01 to 0\.1/ }).waitFor();
});

test('a log without hyper-parameters says how to record them', async (t) => {
  const page = await open(t, await Server.start(pageLog('media')), { at: 'trials' });
  await page.getByText('No hyper-parameters in this log yet').waitFor();
  await page.getByText('rec.hparams(').waitFor();
});

for (const writer of ['torch', 'tensorboardx', 'tensorflow']) {
  test(`trials of ${writer} are shown`, async (t) => {
    const page = await open(t, await Server.start(goldenLog(writer)), { at: 'trials' });
    assert.ok((await points(await parallel(page))) > 0);
    assert.ok((await axisNames(page)).length > 1);
  });
}

test('ten thousand trials: a range answers, and nothing hangs', async (t) => {
  const page = await open(t, await Server.start(pageLog('tuning', 10_000)), { at: 'trials' });
  const card = await parallel(page);
  await eventually(async () => (await points(card)) === 10_000, 'all trials');
  await brush(page, 'lr', 0.4, 0.6);
  await eventually(async () => (await points(card)) > 1500 && (await points(card)) < 2500, 'a fifth of them');
  assert.equal((await rows(page)).length, 50, 'no row outside of the window');
  await screenshot(page, 'trials-10000');
});

test('trials in the light, and on a phone', async (t) => {
  const light = await open(t, tuning, { at: 'trials', colorScheme: 'light' });
  await parallel(light);
  await screenshot(light, 'trials-light');
  const small = await open(t, tuning, { at: 'trials', viewport: phone });
  const box = (await (await parallel(small)).boundingBox())!;
  assert.ok(box.x >= 0 && box.x + box.width <= phone.width, 'the card fits, its axes scroll');
  await screenshot(small, 'trials-phone');
});
