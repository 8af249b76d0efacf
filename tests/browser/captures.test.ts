// The captures of a log: why they were made, where a NaN came from, the steps around it; and triggers of a running job.
import assert from 'node:assert/strict';
import { cpSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Locator, Page } from 'playwright-core';

import { eventually, open, phone, run, screenshot } from './browser.ts';
import { demoLog, Job, newFolder, Server } from './sonde.ts';

interface Tensor {
  key: string;
  count: number;
  nan: number;
  positive_infinity: number;
  negative_infinity: number;
}
interface Capture {
  reason: string;
  when: string;
  step: number;
  values: { expression: string; value: number | string }[];
  steps: { step: number; file: string; tensors: Tensor[] }[];
  origin: { producers: { key: string; step: number; nan: number; infinite: number; count: number }[]; propagators: string[] };
}

const log = demoLog('--fault', 'nan');
const server = await Server.start(log);
const folder = join(log, 'train/captures');
const name = readdirSync(folder).sort()[0]!;
const capture = JSON.parse(readFileSync(join(folder, name, 'capture.json'), 'utf8')) as Capture;
const producer = capture.origin.producers[0]!;
const number = (of: number) => of.toLocaleString('en-US');

const article = (page: Page, which = name) => page.getByRole('article', { name: `Capture ${which} of train` });
const step = (found: Locator, of: number) => found.getByRole('group', { name: 'Saved steps' }).getByRole('button', { name: new RegExp(`^${number(of)}( |$)`) });
const place = `captures?capture=train/captures/${name}`;

test('the list has each capture with its reason, expression and values', async (t) => {
  const page = await open(t, server, { at: 'captures' });
  const entries = page.getByRole('navigation', { name: 'Captures' }).getByRole('button');
  await entries.first().waitFor();
  assert.equal(await entries.count(), readdirSync(folder).filter((one) => existsSync(join(folder, one, 'capture.json'))).length);
  const text = await entries.filter({ hasText: `step ${number(capture.step)}` }).first().innerText();
  assert.ok(text.includes(capture.reason) && text.includes('train'), text);
  assert.ok(text.includes(producer.key), 'the producer');
});

test('a capture says what fired, what produced the bad values and how healthy each layer is', async (t) => {
  const page = await open(t, server, { at: place });
  const found = article(page);
  const cause = found.getByRole('region', { name: 'Cause' });
  await cause.waitFor();
  assert.match(await cause.innerText(), new RegExp(`^${producer.key} produced the first (NaN|Inf) at step ${number(producer.step)}: `));
  const text = await found.innerText();
  assert.ok(text.includes(capture.when), 'the expression');
  for (const { expression } of capture.values) assert.ok(text.includes(expression), expression);
  const saved = capture.steps.find((one) => one.step === producer.step)!;
  const rows = found.getByRole('table', { name: `Tensors of step ${number(saved.step)}` }).locator('tbody tr');
  assert.equal(await rows.count(), saved.tensors.length);
  for (const [i, tensor] of saved.tensors.entries()) {
    const [place, , , health, role] = await rows.nth(i).locator('td').allInnerTexts();
    const bad = tensor.nan + tensor.positive_infinity + tensor.negative_infinity;
    assert.equal(place, String(i + 1), 'in order of execution');
    assert.match(health!, bad === 0 ? /^finite$/ : new RegExp(` of ${number(tensor.count)}$`), tensor.key);
    const produces = capture.origin.producers.some((one) => one.key === tensor.key && one.step === saved.step);
    assert.equal(role, produces ? 'producer' : bad === 0 ? '' : capture.origin.propagators.includes(tensor.key) ? 'passes it on' : 'not finite', tensor.key);
  }
  await screenshot(page, 'captures');
});

test('one steps through the saved steps, and the link keeps the place', async (t) => {
  const page = await open(t, server, { at: place });
  const found = article(page);
  await step(found, producer.step).waitFor();
  assert.equal(await step(found, producer.step).getAttribute('aria-pressed'), 'true');
  const at = capture.steps.findIndex((one) => one.step === producer.step);
  const before = capture.steps[at - 1]!;
  await found.getByRole('button', { name: 'Previous saved step' }).click();
  await found.getByRole('table', { name: `Tensors of step ${number(before.step)}` }).waitFor();
  assert.match(page.url(), new RegExp(`[?&]at=${at - 1}(&|$)`));
  await step(found, before.step).focus();
  await page.keyboard.press('ArrowRight');
  await found.getByRole('table', { name: `Tensors of step ${number(producer.step)}` }).waitFor();
  await page.keyboard.press('ArrowLeft');
  await page.reload();
  await found.getByRole('table', { name: `Tensors of step ${number(before.step)}` }).waitFor();
  await found.getByRole('checkbox', { name: /only layers/ }).check();
  await found.getByText(/All \d+ tensors of this step are finite/).waitFor();
});

test('the growth of the producer before the fault is drawn from the saved values', async (t) => {
  const page = await open(t, server, { at: place });
  const growth = article(page).getByRole('region', { name: `Growth of ${producer.key}` });
  await growth.getByRole('img').waitFor();
  const held = capture.steps.filter((one) => one.tensors.some((tensor) => tensor.key === producer.key));
  const bad = held.filter((one) => one.tensors.some((tensor) => tensor.key === producer.key && tensor.nan + tensor.positive_infinity + tensor.negative_infinity > 0));
  assert.equal(await growth.locator('.growth-bad').count(), bad.length);
  // Another layer is one click away, and in the link.
  const other = capture.steps[0]!.tensors.find((tensor) => tensor.key !== producer.key)!;
  await article(page).getByRole('table').getByRole('button', { name: other.key, exact: true }).click();
  await article(page).getByRole('region', { name: `Growth of ${other.key}` }).getByRole('img').waitFor();
  assert.ok(decodeURIComponent(page.url()).includes(`tensor=${other.key}`), page.url());
});

test('light, dark and a narrow screen show the same', async (t) => {
  for (const [scheme, look] of [['light', {}], ['dark', {}], ['phone', { viewport: phone }]] as const) {
    const page = await open(t, server, { ...look, at: place, colorScheme: scheme === 'light' ? 'light' : 'dark' });
    await article(page).getByRole('img').waitFor();
    const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    assert.ok(wide <= 0, `nothing is wider than the ${scheme} screen`);
    await screenshot(page, `captures-${scheme}`);
  }
});

test('a capture with missing or damaged files says so, and shows the rest', async (t) => {
  const copy = join(newFolder(), 'logs');
  cpSync(log, copy, { recursive: true });
  const captures = join(copy, 'train/captures');
  const lost = capture.steps.find((one) => one.step === producer.step)!;
  rmSync(join(captures, name, lost.file));
  cpSync(join(captures, name), join(captures, '90-broken'), { recursive: true });
  writeFileSync(join(captures, '90-broken/capture.json'), '{"version": 1');
  const damaged = await Server.start(copy);
  const page = await open(t, damaged, { at: place, expected: [/404 \(Not Found\)/] });
  const found = article(page);
  await found.getByRole('alert').waitFor();
  assert.match(await found.getByRole('alert').innerText(), new RegExp(`step ${number(lost.step)} cannot be shown: the file ${lost.file} is missing`));
  assert.ok((await found.getByRole('table').locator('tbody tr').count()) > 0, 'the layers that capture.json lists');
  await page.getByRole('navigation', { name: 'Captures' }).getByRole('button', { name: /unreadable/ }).click();
  const broken = page.getByRole('article', { name: 'Capture 90-broken of train' });
  assert.match(await broken.getByRole('alert').innerText(), /The capture 90-broken of train cannot be shown/);
});

test('a log without captures says what they are', async (t) => {
  const page = await open(t, await Server.start(demoLog('--steps', '20')), { at: 'captures' });
  await page.getByRole('heading', { name: 'No captures yet' }).waitFor();
});

test('a trigger of a running job is armed and disarmed, with errors at their place', async (t) => {
  const logs = newFolder();
  const job = new Job(join(logs, 'train'));
  await job.record('loss', 0, 1);
  const live = await Server.start(logs);
  const page = await open(t, live, { at: 'captures', expected: [/400 \(Bad Request\)/] });
  const triggers = page.getByRole('region', { name: 'Triggers' });
  const condition = triggers.getByRole('textbox', { name: 'Condition' });
  await condition.fill('loss > 1 or (a');
  await triggers.getByRole('button', { name: 'Arm', exact: true }).click();
  await eventually(async () => /column 15: expected/.test(await triggers.getByRole('alert').innerText()), 'what is wrong');
  const [line, mark] = (await triggers.locator('.arm-place').innerText()).split('\n');
  assert.equal(line, 'loss > 1 or (a');
  assert.equal(mark!.indexOf('^'), 14, 'the mark is under the end of the expression');
  await screenshot(page, 'captures-arm-error');
  for (const when of ['loss > 50', "nonfinite('.*')"]) {
    await condition.fill(when);
    await condition.press('Enter');
    await triggers.getByRole('listitem').filter({ hasText: when }).waitFor();
  }
  const file = () => readFileSync(join(logs, 'train/control.toml'), 'utf8');
  assert.match(file(), /loss > 50/);
  await screenshot(page, 'captures-armed');
  await triggers.getByRole('button', { name: 'Disarm loss > 50' }).click();
  await eventually(async () => (await triggers.getByRole('listitem').count()) === 1, 'one trigger less');
  assert.doesNotMatch(file(), /loss > 50/);
  assert.match(file(), /nonfinite/);
  await run(page, 'train').waitFor();
  await job.finish();
});
