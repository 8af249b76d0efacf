// While a training runs, the page moves by itself.
import assert from 'node:assert/strict';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

import { chart, eventually, open, points, run, runNames, screenshot } from './browser.ts';
import { Job, newFolder, Server } from './sonde.ts';

async function training(): Promise<{ folder: string; job: Job; server: Server }> {
  const folder = newFolder();
  const job = new Job(join(folder, 'train'));
  await job.record('loss', 0, 1);
  return { folder, job, server: await Server.start(folder) };
}

test('new points appear by themselves', async (t) => {
  const { job, server } = await training();
  const page = await open(t, server, { at: 'metrics' });
  const loss = await chart(page, 'loss');
  assert.equal(await points(loss), 1);
  for (let step = 1; step <= 5; ++step) {
    await job.record('loss', step, 1 / (1 + step));
    await eventually(async () => (await points(loss)) === step + 1, `point ${step} in the chart`);
  }
  await screenshot(page, 'live');
  await job.finish();
});

test('new tags and new runs appear by themselves', async (t) => {
  const { folder, job, server } = await training();
  const page = await open(t, server, { at: 'metrics' });
  await chart(page, 'loss');
  await job.record('accuracy', 0, 0.5);
  assert.equal(await points(await chart(page, 'accuracy')), 1);

  assert.deepEqual(await runNames(page), ['train']);
  const second = new Job(join(folder, 'test'));
  await second.record('loss', 0, 2);
  await run(page, 'test').waitFor();
  await eventually(async () => (await points(await chart(page, 'loss'))) === 2, 'both runs in the chart');
  await second.finish();
  await job.finish();
});

test('the page says that the server is gone, and comes back with it', async (t) => {
  const { folder, job, server } = await training();
  const page = await open(t, server, { at: 'metrics', expected: [/ERR_CONNECTION_REFUSED|ERR_INCOMPLETE_CHUNKED|ERR_CONNECTION_RESET|ERR_EMPTY_RESPONSE/] });
  await chart(page, 'loss');
  const state = page.getByRole('button', { name: /^Connection/ });
  await eventually(async () => (await state.innerText()).trim() === 'live', 'the word "live"');
  await server.stop();
  await eventually(async () => (await state.innerText()).trim() === 'no connection', 'a word that the connection is gone');
  await screenshot(page, 'disconnected');

  await job.record('loss', 1, 0.5);
  await Server.start(folder, '--port', `${server.port}`);
  await eventually(async () => (await points(await chart(page, 'loss'))) === 2, 'what was recorded meanwhile');
  await eventually(async () => (await state.innerText()).trim() === 'live', 'the word "live" again');
  await job.finish();
});

test('a question without an answer is reported, and asked again', async (t) => {
  const { job, server } = await training();
  const page = await open(t, server, { at: 'metrics', expected: [/ERR_ABORTED|ERR_FAILED/] });
  const loss = await chart(page, 'loss');
  await page.clock.install();
  let mute = true;
  const kept = new Set<string>();
  await page.route(/\/api\/(start|series)/, async (route) => {
    if (!mute) return route.continue();
    kept.add(new URL(route.request().url()).pathname); // neither answered nor ended
  });
  await job.record('loss', 1, 0.5);
  await eventually(async () => kept.size === 2, 'questions for what is new');
  const state = page.getByRole('button', { name: /^Connection/ });
  assert.equal((await state.innerText()).trim(), 'live');
  await page.clock.fastForward(30_000);
  await eventually(async () => (await state.innerText()).trim() === 'no answer', 'a word that nothing is answered');
  mute = false;
  await page.clock.fastForward(5000);
  await eventually(async () => (await points(loss)) === 2, 'the point that was not answered before');
  await eventually(async () => (await state.innerText()).trim() === 'live', 'the word "live" again');
  await job.finish();
});

test('a tab that was in the background catches up', async (t) => {
  const { job, server } = await training();
  const page = await open(t, server, { at: 'metrics' });
  await page.clock.install();
  const loss = await chart(page, 'loss');
  const setHidden = (hidden: boolean) =>
    page.evaluate((now) => {
      Object.defineProperty(document, 'hidden', { configurable: true, get: () => now });
      Object.defineProperty(document, 'visibilityState', { configurable: true, get: () => (now ? 'hidden' : 'visible') });
      document.dispatchEvent(new Event('visibilitychange'));
    }, hidden);
  await setHidden(true);
  await page.clock.fastForward(120_000);
  const state = page.getByRole('button', { name: /^Connection/ });
  await eventually(async () => (await state.innerText()).trim() === 'paused', 'the word "paused"');
  for (let step = 1; step < 20; ++step) await job.record('loss', step, 1);
  await setHidden(false);
  await eventually(async () => (await points(loss)) === 20, 'all that was recorded meanwhile');
  await job.finish();
});

test('what is typed while points come stays until it is taken or given up', async (t) => {
  const { job, server } = await training();
  for (let step = 1; step <= 50; ++step) await job.record('loss', step, 1);
  const page = await open(t, server, { at: 'metrics' });
  const loss = await chart(page, 'loss');
  let last = 50;
  const grow = async () => {
    for (const end = last + 3; last < end; ) await job.record('loss', ++last, 1);
    await eventually(async () => (await points(loss)) === last + 1, 'the new points');
    const bar = page.getByRole('slider', { name: 'Step cursor' });
    await eventually(async () => Number(await bar.getAttribute('aria-valuemax')) === last, 'the new last step');
  };
  const step = page.getByRole('textbox', { name: 'Step', exact: true });
  await step.fill('2');
  await grow();
  assert.equal(await step.inputValue(), '2');
  await step.press('Enter');
  await eventually(async () => /[?&]step=2(&|$)/.test(page.url()), 'the step in the address');
  await step.fill('44');
  await grow();
  await step.press('Escape');
  assert.equal(await step.inputValue(), '2');

  await loss.hover();
  await page.getByRole('button', { name: 'More about loss' }).first().click();
  const top = page.getByRole('textbox', { name: 'y to' });
  await top.fill('12');
  await grow();
  assert.equal(await top.inputValue(), '12');
  await top.blur();
  await eventually(async () => /cards=.*12/.test(decodeURIComponent(page.url())), 'the range in the address');
  await top.fill('13');
  await page.getByRole('searchbox', { name: /filter tags/i }).click(); // the menu closes
  await eventually(async () => /cards=.*13/.test(decodeURIComponent(page.url())), 'what was typed before the menu closed');
  await job.finish();
});

test('a run that is being recorded is shown as live', async (t) => {
  const { job, server } = await training();
  const page = await open(t, server);
  const line = page.getByRole('region', { name: 'Runs table' }).getByRole('row', { name: /train/ });
  await eventually(async () => /live/.test(await line.innerText()), 'the word "live" beside the run');
  await job.finish();
});

test('a card says how many points a restart wrote again', async (t) => {
  const folder = newFolder();
  const before = new Job(join(folder, 'train'));
  for (let step = 0; step < 10; ++step) await before.record('loss', step, 1);
  await before.finish();
  const after = new Job(join(folder, 'train'));
  for (let step = 5; step < 12; ++step) await after.record('loss', step, 2);
  await after.finish();
  const page = await open(t, await Server.start(folder), { at: 'metrics' });
  assert.equal(await points(await chart(page, 'loss')), 12);
  const card = page.getByRole('region', { name: 'loss', exact: true }).first();
  await eventually(async () => /12 points · 5 older points replaced by a restart/.test(await card.innerText()), 'what was left out');
});

test('the runs table follows a run that never pauses', async (t) => {
  const { job, server } = await training();
  const page = await open(t, server);
  const row = page.getByRole('region', { name: 'Runs table' }).getByRole('row', { name: /train/ });
  const headers = page.getByRole('region', { name: 'Runs table' }).getByRole('columnheader');
  await headers.filter({ hasText: /^loss/ }).waitFor();
  const column = (await headers.allInnerTexts()).findIndex((name) => /^loss/.test(name));
  const shown = async () => Number((await row.locator('th, td').nth(column).locator('span').first().innerText()).replaceAll(',', ''));
  // The value of each step is the step. Points come many times per second until the table has shown five new values.
  let step = 0;
  const seen = new Set<number>();
  const start = await eventually(shown, 'a first value');
  await eventually(async () => {
    await job.record('loss', ++step, step);
    const value = await shown();
    assert.ok(value === start || (Number.isInteger(value) && value <= step), `${value} was recorded`);
    if (value !== start) seen.add(value);
    return seen.size >= 5;
  }, 'five values while points keep coming');
  await job.finish();
  await eventually(async () => (await shown()) === step, `the last value, ${step}`);
});

test('a trigger is armed from the page, and an alert appears when it fires', async (t) => {
  const { folder, job, server } = await training();
  // A wrong expression is a 400, which the browser says on its console, too.
  const page = await open(t, server, { expected: [/400 \(Bad Request\)/] });
  const table = page.getByRole('region', { name: 'Runs table' });
  await table.getByRole('row', { name: /train/ }).hover();
  await table.getByRole('button', { name: 'Arm a trigger in train' }).click();
  const dialog = page.getByRole('dialog', { name: 'Arm a trigger in train' });
  const condition = dialog.getByRole('textbox', { name: 'Condition' });
  await condition.fill('loss >');
  await dialog.getByRole('button', { name: 'Arm' }).click();
  await eventually(async () => /column 7: expected/.test(await dialog.getByRole('alert').innerText()), 'what is wrong with it');
  assert.equal(await dialog.getByRole('status').count(), 0);

  await condition.fill('loss > 50');
  await dialog.getByRole('textbox', { name: 'steps before' }).fill('2');
  await dialog.getByRole('textbox', { name: 'steps after' }).fill('0');
  await condition.press('Enter');
  await eventually(async () => /^Armed/.test(await dialog.getByRole('status').innerText()), 'that it is armed');
  assert.equal(await dialog.getByRole('alert').count(), 0);
  await screenshot(page, 'arm');
  await dialog.getByRole('button', { name: 'Close' }).click();

  // The job takes it within a moment; the loss jumps until it has.
  let step = 0;
  const alert = page.getByRole('region', { name: 'Alerts' }).getByRole('button', { name: /trigger/ }).first();
  await eventually(async () => {
    await job.record('loss', ++step, 1);
    await job.record('loss', ++step, 100);
    return (await alert.count()) > 0;
  }, 'an alert of the trigger');
  assert.match(await alert.innerText(), /train[\s\S]*loss > 50/);
  await screenshot(page, 'triggered');
  const saved = readdirSync(join(folder, 'train/captures')).filter((name) => existsSync(join(folder, 'train/captures', name, 'capture.json')));
  assert.ok(saved.length > 0, 'a capture');
  const capture = JSON.parse(readFileSync(join(folder, 'train/captures', saved[0]!, 'capture.json'), 'utf8')) as { before: number; after: number };
  assert.deepEqual([capture.before, capture.after], [2, 0]);
  await job.finish();
});
