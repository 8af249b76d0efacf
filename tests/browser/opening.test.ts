// What one sees without a click: is it learning, is anything wrong, where.
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Page } from 'playwright-core';

import { chart, charts, eventually, open, points, run, runNames, screenshot } from './browser.ts';
import { demoLog, pageLog, Server } from './sonde.ts';

const demo = await Server.start(demoLog());
const brokenLog = demoLog('--fault', 'nan');
const broken = await Server.start(brokenLog);

const table = (page: Page) => page.getByRole('region', { name: 'Runs table' });
const row = (page: Page, name: string) => table(page).locator(`[data-run-row=${JSON.stringify(name)}]`);

test('train and test loss are overlaid', async (t) => {
  const page = await open(t, demo);
  const loss = await chart(page, 'loss');
  assert.equal(await points(loss), 1000 + 51);
  assert.match((await loss.getAttribute('aria-label')) ?? '', /test.*train|train.*test/);
  await screenshot(page, 'overview');
});

test('the first chart takes one request for the structure and one for its lines', async (t) => {
  const page = await open(t, demo);
  const asked: string[] = [];
  page.on('request', (request) => asked.push(new URL(request.url()).pathname));
  await page.goto(demo.url);
  await chart(page, 'loss');
  assert.equal(asked.filter((path) => path === '/api/start').length, 1, asked.join(' '));
  const first = asked.indexOf('/api/series');
  assert.ok(first > 0, asked.join(' '));
  const before = asked.slice(0, first).filter((path) => !/^\/$|\.css$|\.svg$|^\/api\/(start|alerts|events|table)$/.test(path));
  assert.ok(before.length <= 2 && before.every((path) => path.endsWith('.js')), `code of the first view comes at once: ${before.join(' ')}`);
});

test('runs show their state, last step and steps per second', async (t) => {
  const page = await open(t, demo);
  await row(page, 'train').waitFor();
  const cells = await row(page, 'train').locator('td').allInnerTexts();
  assert.match(cells[0]!, /live|finished/);
  assert.equal(cells[1], '999');
  assert.match(cells[2]!, /\d/);
});

test('the table has hyper-parameters, last and best values', async (t) => {
  const page = await open(t, demo);
  await row(page, 'train').waitFor();
  const head = (await table(page).getByRole('columnheader').allInnerTexts()).join(' ');
  assert.match(head, /loss.*best/i);
  const about = await page.evaluate(async () => (await (await fetch('api/runs')).json()) as { runs: { run: string; hparams: Record<string, unknown> }[] });
  const names = about.runs.flatMap((one) => Object.keys(one.hparams));
  assert.ok(names.length > 0);
  for (const name of names.slice(0, 3)) assert.ok(head.includes(name), name);
  await eventually(async () => /0\.0\d+/.test(await row(page, 'train').innerText()), 'the last loss');
});

test('a log without problems says so', async (t) => {
  const page = await open(t, demo);
  await eventually(async () => /Nothing is wrong/.test(await page.getByRole('region', { name: 'Alerts' }).innerText()), 'the good news');
});

test('a NaN is on the first screen, and a click leads to its tag and step', async (t) => {
  const page = await open(t, broken);
  const alert = page.locator('[data-alert="nonfinite"]').first();
  await alert.waitFor();
  assert.match(await alert.innerText(), /NaN/);
  assert.match(await run(page, 'train').innerText(), /NaN @ \d+/);
  await screenshot(page, 'overview-nan');
  const step = Number(/step ([\d,]+)/.exec(await alert.innerText())![1]!.replace(',', ''));
  await alert.click();
  await eventually(async () => /tags=/.test(page.url()) && new RegExp(`step=${step}(&|$)`).test(page.url()), 'tag and step in the address');
  await eventually(async () => (await page.locator('.net-name').count()) === 1, 'the row of that tensor alone, in the map of the network');
  assert.ok(page.url().includes('#/network'), page.url());
  await screenshot(page, 'alert-followed');
});

interface Capture {
  origin: { producers: { key: string; step: number; nan: number; infinite: number; count: number }[] };
}

// The first capture of a trigger in the run, as it is on disk.
function captureOf(folder: string): { name: string; capture: Capture } {
  const captures = join(folder, 'train/captures');
  const name = readdirSync(captures).sort()[0]!;
  return { name, capture: JSON.parse(readFileSync(join(captures, name, 'capture.json'), 'utf8')) as Capture };
}

test('alerts lead with the tensor that produced the NaN, then its symptoms', async (t) => {
  const { capture } = captureOf(brokenLog);
  const producer = capture.origin.producers[0]!;
  const page = await open(t, broken);
  const alerts = page.getByRole('region', { name: 'Alerts' }).getByRole('button').filter({ hasText: 'train' });
  await alerts.first().waitFor();
  const text = await alerts.first().innerText();
  assert.ok(text.includes(`${producer.key} produced the first`), text);
  assert.match(text, new RegExp(`at step ${producer.step.toLocaleString('en-US')}: ${producer.nan + producer.infinite} of`));
  assert.equal(await alerts.first().getAttribute('data-alert'), 'nonfinite');
  assert.equal(await alerts.nth(1).getAttribute('data-alert'), 'trigger');
  assert.match(await alerts.first().innerText(), /then \d+ other tag/, 'the loss is a symptom');
});

test("a click on a trigger's alert leads to what it saved", async (t) => {
  const { name } = captureOf(brokenLog);
  const page = await open(t, broken);
  await page.locator('[data-alert="trigger"]').filter({ hasText: `captures/${name}` }).click();
  await page.getByRole('article', { name: `Capture ${name} of train` }).waitFor();
  assert.match(decodeURIComponent(page.url()), new RegExp(`#/captures\\?.*capture=train/captures/${name}`));
});

test('a NaN is marked on the step cursor', async (t) => {
  const page = await open(t, broken);
  const mark = page.getByRole('button', { name: /^NaN.* at step/ }).first();
  await mark.waitFor();
  const step = Number(/step ([\d,]+)/.exec((await mark.getAttribute('aria-label')) ?? '')![1]!.replace(',', ''));
  await mark.click();
  assert.equal(await page.getByRole('slider', { name: 'Step cursor' }).getAttribute('aria-valuenow'), `${step}`);
});

test('a run is hidden and shown from the table', async (t) => {
  const page = await open(t, demo);
  const loss = await chart(page, 'loss');
  await row(page, 'train').getByRole('button', { name: 'Hide train' }).click();
  await eventually(async () => (await points(loss)) === 51, 'the test run alone');
  await row(page, 'train').getByRole('button', { name: 'Show train' }).click();
  await eventually(async () => (await points(loss)) === 1051, 'both runs');
});

test('a note is written beside the run, and stays', async (t) => {
  const folder = pageLog('trials');
  const server = await Server.start(folder);
  const page = await open(t, server);
  await row(page, 'fast/0').getByRole('button', { name: /Add a note/ }).click();
  await page.getByRole('textbox', { name: 'Note of fast/0' }).fill('the baseline');
  await page.keyboard.press('Enter');
  await eventually(async () => /the baseline/.test(await row(page, 'fast/0').innerText()), 'the note in the table');
  assert.equal(readFileSync(join(folder, 'fast/0/note.md'), 'utf8').trim(), 'the baseline');
  await page.reload();
  await eventually(async () => /the baseline/.test(await row(page, 'fast/0').innerText()), 'the note after a reload');
});

test('a note is changed only by who changes it, and keeps its lines', async (t) => {
  const folder = pageLog('trials');
  const note = join(folder, 'fast/0/note.md');
  writeFileSync(note, 'the baseline\nseed 3');
  const server = await Server.start(folder);
  const page = await open(t, server);
  const field = page.getByRole('textbox', { name: 'Note of fast/0' });
  const edit = () => row(page, 'fast/0').getByRole('button', { name: /Note of fast\/0.*Edit/s }).click();
  const text = () => readFileSync(note, 'utf8').trimEnd();
  const writes: string[] = [];
  page.on('request', (request) => void (request.url().includes('api/note') && writes.push(request.url())));

  for (const leave of ['Escape', 'Enter', 'Tab']) {
    await edit();
    assert.equal((await field.inputValue()).trimEnd(), 'the baseline\nseed 3');
    await page.keyboard.press(leave);
    await field.waitFor({ state: 'detached' });
  }
  await edit();
  await field.fill('something else');
  await page.keyboard.press('Escape');
  await field.waitFor({ state: 'detached' });
  assert.deepEqual(writes, []);
  assert.equal(text(), 'the baseline\nseed 3');

  await edit();
  await page.keyboard.press('Control+End');
  await page.keyboard.press('Shift+Enter');
  await page.keyboard.type('with decay');
  await page.keyboard.press('Enter');
  await field.waitFor({ state: 'detached' });
  await eventually(async () => text() === 'the baseline\nseed 3\nwith decay', 'the note in its file');
  assert.equal(writes.length, 1);
});

test('deleting asks, and moves the run to the trash', async (t) => {
  const folder = pageLog('trials');
  const server = await Server.start(folder);
  const page = await open(t, server);
  const remove = () => row(page, 'slow/2').getByRole('button', { name: 'Delete slow/2' }).click();
  const dialog = page.getByRole('dialog', { name: 'Delete slow/2' });
  await remove();
  await dialog.getByRole('button', { name: 'Keep it' }).click();
  await dialog.waitFor({ state: 'hidden' });
  assert.ok(existsSync(join(folder, 'slow/2')));
  await remove();
  assert.match(await dialog.innerText(), /\.sonde-trash/);
  await screenshot(page, 'delete');
  await dialog.getByRole('button', { name: 'Delete', exact: true }).click();
  await eventually(async () => !(await runNames(page)).includes('slow/2'), 'a list without the run');
  assert.equal(readdirSync(join(folder, '.sonde-trash')).length, 1);
  assert.ok(existsSync(join(folder, 'slow/1')));
});

test('without the token the page shows everything, and changes nothing', async (t) => {
  const folder = pageLog('trials');
  const server = await Server.start(folder);
  const page = await open(t, server, { expected: [/401 \(Unauthorized\).*api\/delete/] });
  await chart(page, 'loss');
  await page.context().clearCookies();
  await page.reload();
  await chart(page, 'loss');
  await row(page, 'slow/2').getByRole('button', { name: 'Delete slow/2' }).click();
  const dialog = page.getByRole('dialog', { name: 'Delete slow/2' });
  assert.match(await dialog.innerText(), /token/);
  assert.ok(await dialog.getByRole('button', { name: 'Delete', exact: true }).isDisabled());
  const refused = await page.evaluate(async () => (await fetch('api/delete', { method: 'POST', body: '{"run":"slow/2"}' })).status);
  assert.equal(refused, 401);
  assert.ok(existsSync(join(folder, 'slow/2')));
});

test('a demo ends by serving what it recorded', async (t) => {
  const demo = await Server.demo('--steps', '50');
  const page = await open(t, demo);
  assert.ok((await points(await chart(page, 'loss'))) >= 50);
  assert.deepEqual((await runNames(page)).sort(), ['test', 'train']);
  await page.getByRole('link', { name: /Distributions/ }).click();
  await charts(page).first().waitFor({ state: 'attached' });
  assert.equal(await demo.stop('SIGINT'), 0);
});
