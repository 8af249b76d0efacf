// What one finds without searching, on logs with deep names and several runs: names that differ, what belongs together, what
// went wrong.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Page } from 'playwright-core';

import { chart, eventually, open, run, screenshot } from './browser.ts';
import { demoLog, Job, newFolder, pageLog, Server } from './sonde.ts';

const kBlocks = ['00', '01', '02', '03'];
const kNames = ['exp/resnet/adam/s1', 'exp/resnet/sgd/s1', 'exp/resnet/sgd/s2', 'exp/vit/adam/s1'];

async function deepLog(): Promise<string> {
  const folder = newFolder();
  for (const [r, name] of kNames.entries()) {
    const job = new Job(join(folder, name));
    for (let step = 0; step < 20; ++step) {
      await job.record('train/loss', step, 1 / (1 + step) + r);
      await job.record('val/accuracy', step, 1 - 1 / (1 + step));
      await job.record('optimizer/lr', step, 0.1);
      await job.record('optimizer/decay', step, 0.01);
      for (const [b, block] of kBlocks.entries()) await job.record(`blocks/${block}/attention/entropy`, step, b);
    }
    await job.finish();
  }
  return folder;
}

const deep = await Server.start(await deepLog());
const broken = await Server.start(demoLog('--fault', 'nan'));
const media = await Server.start(pageLog('media'));
const trials = await Server.start(pageLog('trials'));

const cursor = async (page: Page) => Number(await page.getByRole('slider', { name: 'Step cursor' }).getAttribute('aria-valuenow'));
const inAddress = (page: Page, pattern: RegExp) => eventually(async () => pattern.test(decodeURIComponent(page.url())), `${pattern} in the address`);
const texts = async (page: Page, selector: string) => (await page.locator(selector).allInnerTexts()).map((text) => text.trim());

test('sections with losses come first, and the cards of a family are named by what differs', async (t) => {
  const page = await open(t, deep, { at: 'metrics', viewport: { width: 1440, height: 2400 } });
  await chart(page, 'train/loss');
  await chart(page, 'blocks/03/attention/entropy');
  const headings = (await texts(page, '.metric-heading')).map((text) => text.replace(/\s+/g, ' '));
  // Those of one tag each are a section of their own only if they are few.
  assert.deepEqual(headings, ['train 1', 'val 1', 'blocks/*/attention/entropy 4', 'optimizer 2']);
  assert.deepEqual(await texts(page, '[data-card^="metrics:blocks/"] .card-title'), kBlocks);
  assert.deepEqual(await texts(page, '[data-card^="metrics:optimizer/"] .card-title'), ['decay', 'lr']);
  await screenshot(page, 'metrics-families');
});

test('folders for a single run are no rows of the list', async (t) => {
  const page = await open(t, deep);
  await run(page, kNames[0]!).waitFor();
  const rows = await texts(page, '.run-row .run-name');
  assert.deepEqual(rows, ['exp', 'resnet', 'adam/s1', 'sgd', 's1', 's2', 'vit/adam/s1']);
});

test('smoothing is automatic until one chooses a weight, by hand or by number', async (t) => {
  const page = await open(t, deep, { at: 'metrics' });
  await chart(page, 'train/loss');
  const field = page.getByRole('textbox', { name: 'Smoothing weight' });
  assert.equal(await field.inputValue(), '');
  await field.fill('0.95');
  await field.press('Enter');
  await inAddress(page, /smooth=0\.95/);
  await field.fill('7');
  await field.press('Enter');
  await inAddress(page, /smooth=0\.999/);
  await field.fill('');
  await field.press('Enter');
  await eventually(async () => !/smooth=/.test(page.url()), 'automatic again');
});

test('a run, its entry in the legend and its line are highlighted together', async (t) => {
  const page = await open(t, deep);
  const loss = await chart(page, 'train/loss');
  const [first, second] = [kNames[0]!, kNames[3]!];
  const legend = page.getByRole('list', { name: 'Lines' }).first();
  const lit = () => texts(page, '.run-lit .run-name');
  const picture = async () => (await loss.locator('canvas').first().screenshot()).toString('base64');
  const plain = await picture();
  await legend.getByRole('button', { name: 'vit/adam/s1' }).hover();
  await eventually(async () => JSON.stringify(await lit()) === '["vit/adam/s1"]', 'the row of the run');
  await eventually(async () => (await picture()) !== plain, 'another picture');
  await run(page, first).hover();
  await eventually(async () => (await legend.locator('.legend-lit').innerText()) === 'resnet/adam/s1', 'the entry of the run');
  // On a line, which is at 1.05 + 3 at the end of this run.
  const box = (await loss.boundingBox())!;
  await eventually(async () => {
    for (let y = 0.05; y < 0.9; y += 0.02) {
      await page.mouse.move(box.x + box.width * 0.9, box.y + box.height * y);
      if ((await lit()).includes('vit/adam/s1')) return true;
    }
    return false;
  }, 'the run whose line is under the pointer');
  await legend.getByRole('button', { name: 'vit/adam/s1' }).click();
  await inAddress(page, new RegExp(`show=\\+${second}`));
  await page.getByRole('list', { name: 'Lines' }).first().getByRole('button').click();
  await eventually(async () => !/show=/.test(page.url()), 'all runs again');
});

test('a card that fills the screen leaves the toolbar and the step bar', async (t) => {
  const page = await open(t, deep, { at: 'metrics?full=metrics:train/loss' });
  await chart(page, 'train/loss');
  const box = async (selector: string) => (await page.locator(selector).first().boundingBox())!;
  await eventually(async () => {
    const [card, bar, steps] = [await box('.card-full'), await box('.toolbar'), await box('.cursor-bar')];
    return card.y >= bar.y + bar.height && card.y + card.height <= steps.y && card.width > 1200;
  }, 'a card between them');
  await page.getByRole('button', { name: 'log y' }).click();
  await inAddress(page, /logy=1/);
  await screenshot(page, 'metrics-full');
});

test('alerts and captures are marks on the step bar, and n and N go to them', async (t) => {
  const page = await open(t, broken);
  const marks = page.locator('[data-mark]');
  await marks.first().waitFor();
  const { alerts } = await page.evaluate(async () => (await (await fetch('api/alerts')).json()) as { alerts: { step: number | null }[] });
  const steps = [...new Set(alerts.flatMap(({ step }) => step ?? []))].sort((a, b) => a - b);
  const marked = await marks.evaluateAll((all) => all.map((one) => Number(one.getAttribute('data-mark'))));
  assert.ok(marked.every((step) => steps.includes(step)), `${marked} of ${steps}`);
  assert.equal(await page.locator('[role=slider] button').count(), 0, 'a slider has no buttons inside');
  await page.getByRole('main').focus();
  await page.keyboard.press('Home');
  const after = steps.filter((step) => step > 0);
  await page.keyboard.press('n');
  await eventually(async () => (await cursor(page)) === after[0], 'the first mark');
  await page.keyboard.press('End');
  await page.keyboard.press('N');
  const last = await page.getByRole('slider', { name: 'Step cursor' }).getAttribute('aria-valuemax');
  await eventually(async () => (await cursor(page)) === steps.filter((step) => step < Number(last)).pop(), 'the last mark before the end');
});

test('a pattern that is none is explained, and the numbers beside the views follow the filter', async (t) => {
  const page = await open(t, deep, { at: 'metrics' });
  await chart(page, 'train/loss');
  const badge = () => page.getByRole('link', { name: /^Metrics/ }).locator('.count').innerText();
  assert.equal(await badge(), String(4 + kBlocks.length));
  const filter = page.getByRole('searchbox', { name: /Filter tags/ });
  await filter.fill('ENTROPY');
  await eventually(async () => (await badge()) === '0', 'capitals count');
  await filter.fill('entropy');
  await eventually(async () => (await badge()) === String(kBlocks.length), 'the number of tags that match');
  await filter.fill('loss(');
  await page.getByText(/Taken as plain text: /).first().waitFor();
});

test('a view is kept under a name, with all that was chosen', async (t) => {
  const page = await open(t, deep, { at: 'metrics?tags=entropy&smooth=0.9' });
  await chart(page, 'blocks/00/attention/entropy');
  await page.getByRole('button', { name: 'Named views' }).click();
  await page.getByRole('textbox', { name: 'Name of this view' }).fill('entropies');
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  await page.keyboard.press('Escape');
  await page.getByRole('link', { name: /^Overview/ }).click();
  await page.getByRole('searchbox', { name: /Filter tags/ }).fill('');
  await chart(page, 'train/loss');
  await page.getByRole('button', { name: 'Named views' }).click();
  await page.getByRole('link', { name: 'entropies' }).click();
  await inAddress(page, /metrics\?.*smooth=0\.9.*tags=entropy/);
  await eventually(async () => (await page.locator('[data-place^="metrics:"]').count()) === kBlocks.length, 'the same cards');
});

test('the arrow keys go from one recorded image to the next', async (t) => {
  const page = await open(t, media, { at: 'media?tags=samples/square&step=0' });
  await chart(page, 'samples/square');
  await page.getByRole('main').focus();
  for (const step of [10, 20]) {
    await page.keyboard.press('ArrowRight');
    await eventually(async () => (await cursor(page)) === step, `step ${step}`);
  }
  await page.keyboard.press('Shift+ArrowRight');
  await eventually(async () => (await cursor(page)) === 120, 'ten further');
  await page.keyboard.press('ArrowLeft');
  await eventually(async () => (await cursor(page)) === 110, 'one back');
});

test('an image can be downloaded as it was recorded', async (t) => {
  const page = await open(t, media, { at: 'media?tags=samples/square&step=100' });
  const card = await chart(page, 'samples/square');
  const link = card.getByRole('link', { name: /^Download samples\/square of train at step 100/ });
  await card.hover();
  const [saved] = await Promise.all([page.waitForEvent('download'), link.click()]);
  assert.match(saved.suggestedFilename(), /train-samples_square-100/);
});

test('runs are filtered by their hyper-parameters', async (t) => {
  const page = await open(t, trials);
  const { runs } = await page.evaluate(async () => (await (await fetch('api/runs')).json()) as { runs: { run: string; hparams: Record<string, number | string | boolean> }[] });
  const name = Object.keys(runs.find((one) => Object.values(one.hparams).some((value) => typeof value === 'number'))!.hparams).find((key) => runs.some((one) => typeof one.hparams[key] === 'number'))!;
  const values = runs.flatMap((one) => (typeof one.hparams[name] === 'number' ? [one.hparams[name]] : [])).sort((a, b) => a - b);
  const border = values[values.length >> 1]!;
  const expected = runs.filter((one) => Number(one.hparams[name]) >= border).length;
  assert.ok(expected > 0 && expected < runs.length, `${expected} of ${runs.length}`);
  await page.getByRole('searchbox', { name: /filter runs/i }).fill(`${name}>=${border}`);
  await eventually(async () => (await page.locator('.panel-count').getAttribute('data-found')) === String(expected), `${expected} runs`);
});

test('a card can be wide, and pinned cards are dragged to other places, both kept in the link', async (t) => {
  const page = await open(t, deep, { at: 'metrics?pin=metrics:train/loss,metrics:val/accuracy' });
  const pinned = page.getByRole('region', { name: 'Pinned', exact: true });
  const places = () => pinned.locator('[data-place]').evaluateAll((all) => all.map((one) => one.getAttribute('data-place')));
  await chart(page, 'val/accuracy');
  await pinned.locator('[data-place="metrics:val/accuracy"] .card-title').dragTo(pinned.locator('[data-place="metrics:train/loss"]'));
  await eventually(async () => (await places())[0] === 'metrics:val/accuracy', 'the other order');
  await inAddress(page, /pin=metrics:val\/accuracy,metrics:train\/loss/);
  const place = pinned.locator('[data-place="metrics:train/loss"]');
  const before = (await place.boundingBox())!;
  await place.hover();
  await place.getByRole('button', { name: /^More about/ }).click();
  await page.getByRole('checkbox', { name: 'Wide' }).check();
  await eventually(async () => (await place.boundingBox())!.width > 1.8 * before.width, 'twice the width');
  await inAddress(page, /cards=.*"wide":true/);
});
