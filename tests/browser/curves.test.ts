// Precision-recall curves: every recorded step, in step with the rest of the page.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Locator, Page } from 'playwright-core';

import { chart, eventually, inkOf, open, phone, points, run, screenshot } from './browser.ts';
import { demoLog, goldenLog, pageLog, Server } from './sonde.ts';

const demo = await Server.start(demoLog());
const golden = await Server.start([goldenLog('torch'), goldenLog('tensorboardx')]);

const cursor = async (page: Page) => Number(await page.getByRole('slider', { name: 'Step cursor' }).getAttribute('aria-valuenow'));
const picture = (card: Locator) => card.getByRole('img', { name: /Precision over recall/ });
const area = (card: Locator) => card.locator('tbody tr').first().locator('td').nth(1).innerText();

test("the demo's curve is drawn, with its area", async (t) => {
  const page = await open(t, demo, { at: 'curves' });
  const card = await chart(page, 'all_digits');
  assert.ok((await points(card)) > 50, 'its thresholds');
  assert.ok((await inkOf(picture(card))) > 500);
  assert.ok(Number(await area(card)) > 0.9, 'a network that has learnt');
  await screenshot(page, 'curves-demo');
});

test('the slider goes through the recorded steps, and the step cursor with it', async (t) => {
  const page = await open(t, demo, { at: 'curves' });
  const card = await chart(page, 'all_digits');
  const last = Number(await area(card));
  await card.getByRole('slider', { name: 'Step of all_digits' }).fill('0');
  await eventually(async () => Number(await area(card)) < last, 'a network that has learnt less');
  assert.match(await card.locator('tbody tr').first().innerText(), new RegExp(`^\\S+\\s+${(await cursor(page)).toLocaleString('en-US')}\\s`));
});

test('between recorded steps the one before is shown, and said', async (t) => {
  const page = await open(t, demo, { at: 'curves' });
  const card = await chart(page, 'all_digits');
  await card.getByRole('slider', { name: 'Step of all_digits' }).fill('1');
  await card.getByRole('button', { name: /Recorded at this step/ }).waitFor();
  const at = await cursor(page);
  const step = page.getByRole('textbox', { name: 'Step' });
  await step.fill(`${at + 1}`);
  await step.press('Enter');
  const there = card.getByRole('button', { name: /Recorded 1 step before the cursor/ });
  await there.click();
  await eventually(async () => (await cursor(page)) === at, 'the step that was recorded');
});

test('the pointer tells threshold, precision, recall and the four counts of each run', async (t) => {
  const page = await open(t, golden, { at: 'curves' });
  const card = await chart(page, 'curve');
  assert.equal(await card.locator('tbody tr').count(), 2);
  await picture(card).hover();
  const tip = page.getByRole('tooltip');
  await tip.waitFor();
  assert.deepEqual(await tip.locator('thead th').allInnerTexts(), ['run', 'threshold', 'precision', 'recall', 'TP', 'FP', 'TN', 'FN']);
  const rows = tip.locator('tbody tr');
  assert.equal(await rows.count(), 2);
  for (const row of await rows.all()) {
    assert.match(await row.locator('th').innerText(), /torch\/train|tensorboardx\/train/);
    const [threshold, precision, recall, tp, fp, , fn] = (await row.locator('td').allInnerTexts()).map((text) => Number(text.replace(/,/g, '')));
    assert.ok(threshold! >= 0 && threshold! <= 1);
    assert.ok(Math.abs(precision! - tp! / (tp! + fp!)) < 0.01, 'precision is that of the counts');
    assert.ok(Math.abs(recall! - tp! / (tp! + fn!)) < 0.01, 'and so is recall');
  }
  await screenshot(page, 'curves');
});

test('a run that is hidden has no curve', async (t) => {
  const page = await open(t, golden, { at: 'curves?show=-torch/train' });
  const card = await chart(page, 'curve');
  await eventually(async () => (await card.locator('tbody tr').count()) === 1, 'one curve');
  assert.match(await card.locator('tbody tr').innerText(), /tensorboardx/);
  await run(page, 'torch/train').waitFor();
});

test('axes that are fitted are so in a link, too', async (t) => {
  const page = await open(t, demo, { at: 'curves' });
  const card = await chart(page, 'all_digits');
  const whole = await picture(card).screenshot();
  await page.getByRole('button', { name: 'Fit', exact: true }).click();
  await eventually(async () => !(await picture(card).screenshot()).equals(whole), 'other axes');
  await eventually(async () => page.url().includes('pr=fitted'), 'the address');
  await page.reload();
  await chart(page, 'all_digits');
  assert.equal(await page.getByRole('button', { name: 'Fit', exact: true }).getAttribute('aria-pressed'), 'true');
});

test('a log without curves says how to record one', async (t) => {
  const page = await open(t, await Server.start(pageLog('media')), { at: 'curves' });
  await page.getByText('No precision-recall curves in this log yet').waitFor();
  await page.getByText('rec.pr_curve(').waitFor();
  await screenshot(page, 'curves-empty');
});

for (const [writer, tag] of [['torch', 'curve'], ['tensorboardx', 'curve'], ['tensorflow', 'curve/pr_curves']] as const) {
  test(`curves of ${writer} are shown`, async (t) => {
    const page = await open(t, await Server.start(goldenLog(writer)), { at: 'curves' });
    const card = await chart(page, tag);
    assert.ok((await points(card)) > 5);
    assert.ok((await inkOf(picture(card))) > 300);
  });
}

test('curves in the light, and on a phone', async (t) => {
  const light = await open(t, golden, { at: 'curves', colorScheme: 'light' });
  await chart(light, 'curve');
  await screenshot(light, 'curves-light');
  const small = await open(t, golden, { at: 'curves', viewport: phone });
  const card = await chart(small, 'curve');
  const box = await card.boundingBox();
  assert.ok(box!.x >= 0 && box!.x + box!.width <= phone.width, 'the card fits');
  await picture(card).hover();
  await small.getByRole('tooltip').waitFor();
  await screenshot(small, 'curves-phone');
});
