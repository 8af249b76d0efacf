// The frame around all views: runs, filters, the step cursor, the address, the keyboard.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Page } from 'playwright-core';

import { chart, eventually, open, points, run, runNames, screenshot } from './browser.ts';
import { Job, newFolder, pageLog, Server } from './sonde.ts';

const server = await Server.start(pageLog('trials'));
const all = ['fast/0', 'fast/1', 'fast/2', 'slow/0', 'slow/1', 'slow/2'];
const perRun = 200;

const panel = (page: Page) => page.getByRole('complementary', { name: 'Runs' });
const runFilter = (page: Page) => page.getByRole('searchbox', { name: /filter runs/i });
const tagFilter = (page: Page) => page.getByRole('searchbox', { name: /filter tags/i });
const choice = (page: Page, name: string) => panel(page).locator('label', { hasText: name }).locator('select');
const shownPoints = async (page: Page) => points(await chart(page, 'loss'));
const swatch = (page: Page, name: string) =>
  run(page, name).locator('.swatch').evaluate((element) => getComputedStyle(element).backgroundColor);
const listed = (page: Page, names: string[]) =>
  eventually(async () => (await runNames(page)).sort().join() === names.join(), `the runs ${names.join(', ')}`);
const inAddress = (page: Page, pattern: RegExp) => eventually(async () => pattern.test(decodeURIComponent(page.url())), `${pattern} in the address`);

test('runs stand in a tree by their paths, which folds', async (t) => {
  const page = await open(t, server, { at: 'metrics' });
  await listed(page, all);
  await panel(page).getByRole('button', { name: /Fold fast/ }).click();
  await listed(page, ['slow/0', 'slow/1', 'slow/2']);
  await panel(page).getByRole('button', { name: /Unfold fast/ }).click();
  await listed(page, all);
});

test('a regular expression filters the runs, and the charts with them', async (t) => {
  const page = await open(t, server, { at: 'metrics' });
  assert.equal(await shownPoints(page), 6 * perRun);
  await runFilter(page).fill('^slow/[01]$');
  await listed(page, ['slow/0', 'slow/1']);
  assert.match(await panel(page).innerText(), /2 of 6/i);
  await eventually(async () => (await shownPoints(page)) === 2 * perRun, 'two runs in the chart');
  await inAddress(page, /runs=\^slow/);
  await runFilter(page).fill('nothing like this');
  await eventually(async () => /No run matches/.test(await panel(page).innerText()), 'a word that none matches');
  await panel(page).getByRole('button', { name: 'Show all', exact: true }).click();
  await listed(page, all);
});

test('a pattern that is none is taken as text, and the page says so', async (t) => {
  const page = await open(t, server, { at: 'metrics' });
  await runFilter(page).fill('fast/(');
  await eventually(async () => /plain text/i.test(await panel(page).innerText()), 'why it is not a pattern');
  assert.equal(await runFilter(page).getAttribute('aria-invalid'), 'true');
});

test('a pattern that would keep a backtracking matcher busy for years does no harm', async (t) => {
  const page = await open(t, server, { at: 'metrics' });
  await runFilter(page).fill('^(((a+)+)+)+$|(f|fa|fas|.)*(f|fa|fas|.)*(f|fa|fas|.)*!');
  await eventually(async () => /No run matches|plain text/i.test(await panel(page).innerText()), 'an answer');
});

test('a click hides a run, another shows it alone', async (t) => {
  const page = await open(t, server, { at: 'metrics' });
  await shownPoints(page);
  const name = run(page, 'fast/0').getByRole('button', { name: 'Show fast/0', exact: true });
  await name.click();
  assert.equal(await name.getAttribute('aria-pressed'), 'false');
  await eventually(async () => (await shownPoints(page)) === 5 * perRun, 'five runs in the chart');
  await run(page, 'slow/1').hover();
  await run(page, 'slow/1').getByRole('button', { name: /only slow\/1/i }).click();
  await eventually(async () => (await shownPoints(page)) === perRun, 'one run in the chart');
  await run(page, 'slow/1').getByRole('button', { name: /Show all/i }).click();
  await eventually(async () => (await shownPoints(page)) === 6 * perRun, 'all runs in the chart');
});

test('a run keeps its colour when others are hidden', async (t) => {
  const page = await open(t, server, { at: 'metrics' });
  await listed(page, all);
  const before = await Promise.all(all.map((name) => swatch(page, name)));
  assert.equal(new Set(before).size, all.length);
  await runFilter(page).fill('slow');
  await listed(page, all.slice(3));
  assert.deepEqual(await Promise.all(all.slice(3).map((name) => swatch(page, name))), before.slice(3));
  const other = await open(t, server, { at: 'metrics' });
  await listed(other, all);
  assert.deepEqual(await Promise.all(all.map((name) => swatch(other, name))), before);
});

test('a colour can be chosen, and goes with the link', async (t) => {
  const page = await open(t, server, { at: 'metrics' });
  await page.getByLabel('Colour of fast/1').fill('#123456');
  await eventually(async () => (await swatch(page, 'fast/1')) === 'rgb(18, 52, 86)', 'the colour beside the run');
  await inAddress(page, /#123456/);
  const linked = await open(t, server, { at: new URL(page.url()).hash.slice(2) });
  await listed(linked, all);
  assert.equal(await swatch(linked, 'fast/1'), 'rgb(18, 52, 86)');
});

test('runs can be grouped by a hyper-parameter, and sorted', async (t) => {
  const page = await open(t, server, { at: 'metrics' });
  await listed(page, all);
  await panel(page).getByRole('button', { name: /Order and groups/ }).click();
  await choice(page, 'Group').selectOption({ label: 'by lr' });
  await eventually(async () => /0\.01/.test(await panel(page).innerText()), 'the values of lr');
  assert.equal(await panel(page).getByRole('button', { name: /^Fold .*0\.1/ }).count(), 1);
  await choice(page, 'Group').selectOption({ label: 'not at all' });
  await choice(page, 'Order').selectOption({ label: 'newest first' });
  await eventually(async () => (await runNames(page))[0] === 'slow/2', 'the newest first');
  await screenshot(page, 'runs-panel');
});

test('the tag filter leaves the cards that match', async (t) => {
  const page = await open(t, server, { at: 'metrics' });
  await chart(page, 'accuracy');
  await page.keyboard.press('/');
  await page.keyboard.type('^loss$');
  await eventually(async () => (await page.locator('[data-chart="accuracy"]').count()) === 0, 'no other card');
  await chart(page, 'loss');
  assert.equal(await tagFilter(page).inputValue(), '^loss$');
});

test('the step cursor follows arrows, keys and the pointer', async (t) => {
  const page = await open(t, server, { at: 'metrics' });
  await chart(page, 'loss');
  const cursor = page.getByRole('slider', { name: 'Step cursor' });
  const at = async () => Number(await cursor.getAttribute('aria-valuenow'));
  assert.equal(await at(), perRun - 1);
  await page.keyboard.press('ArrowLeft');
  assert.equal(await at(), perRun - 2);
  await page.keyboard.press('Home');
  assert.equal(await at(), 0);
  await page.keyboard.press('Shift+ArrowRight');
  assert.equal(await at(), 10);
  await inAddress(page, /step=10(&|$)/);
  const box = (await cursor.boundingBox())!;
  await page.mouse.click(box.x + box.width / 2, box.y + box.height / 2);
  assert.ok(Math.abs((await at()) - perRun / 2) <= 2);
  const step = page.getByRole('textbox', { name: 'Step' });
  await step.fill('42');
  await step.press('Enter');
  await eventually(async () => (await at()) === 42, 'the step that was typed');
});

test('the step field shows the largest step to its last digit', async (t) => {
  const folder = newFolder();
  const job = new Job(join(folder, 'train'));
  await job.record('loss', 9_007_199_254_740_000, 1);
  await job.finish();
  const page = await open(t, await Server.start(folder), { at: 'metrics' });
  const step = page.getByRole('textbox', { name: 'Step' });
  await eventually(async () => (await step.inputValue()) === '9,007,199,254,740,000', 'the step');
  assert.ok(await step.evaluate((field) => field.scrollWidth <= field.clientWidth));
});

test('at the step cursor stand the numbers of all runs if there is room', async (t) => {
  const folder = newFolder();
  for (const name of ['train', 'test', '__proto__']) {
    const job = new Job(join(folder, name));
    await job.record('loss', 1, name.length);
    await job.finish();
  }
  const page = await open(t, await Server.start(folder), { at: 'metrics' });
  const values = page.getByRole('region', { name: 'Values at the step cursor' });
  await eventually(async () => /5\b/.test(await values.innerText()), 'the values');
  for (const said of [/train\s+loss\s+5\b/, /test\s+loss\s+4\b/, /__proto__\s+loss\s+9\b/]) assert.match(await values.innerText(), said);
  // Whatever a run is named, it has a colour.
  assert.match(await swatch(page, '__proto__'), /^rgb\(/);
  assert.notEqual(await swatch(page, '__proto__'), await swatch(page, 'train'));
});

test('playing moves the cursor, and stops where it is told to', async (t) => {
  const page = await open(t, server, { at: 'metrics?step=0' });
  await chart(page, 'loss');
  const cursor = page.getByRole('slider', { name: 'Step cursor' });
  await page.keyboard.press('Space');
  await eventually(async () => Number(await cursor.getAttribute('aria-valuenow')) > 3, 'a later step');
  await page.getByRole('button', { name: /^Pause/ }).click();
  await page.getByRole('button', { name: /^Play/ }).waitFor();
  const frames = () => page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
  await frames(); // the last step before the click may not be drawn yet
  const stopped = await cursor.getAttribute('aria-valuenow');
  await frames();
  assert.equal(await cursor.getAttribute('aria-valuenow'), stopped);
});

test('a link shows the same picture in another browser', async (t) => {
  const page = await open(t, server, { at: 'metrics' });
  await runFilter(page).fill('slow');
  await tagFilter(page).fill('accuracy');
  await page.getByRole('searchbox', { name: /filter tags/i }).blur();
  await page.keyboard.press('Home');
  await inAddress(page, /step=0/);
  await inAddress(page, /tags=accuracy/);
  const linked = await open(t, server, { at: new URL(page.url()).hash.slice(2) });
  await listed(linked, all.slice(3));
  assert.equal(await points(await chart(linked, 'accuracy')), 3 * perRun);
  assert.equal(await linked.locator('[data-chart="loss"]').count(), 0);
  assert.equal(await linked.getByRole('slider', { name: 'Step cursor' }).getAttribute('aria-valuenow'), '0');
});

test('back leads to the view before', async (t) => {
  const page = await open(t, server, { at: 'metrics' });
  await chart(page, 'loss');
  const views = page.getByRole('navigation', { name: 'Views' });
  await views.getByRole('link', { name: /Distributions/ }).click();
  await inAddress(page, /#\/distributions/);
  await page.goBack();
  await chart(page, 'loss');
  assert.match(await views.locator('[aria-current=page]').innerText(), /Metrics/);
});

test('dark and light follow the system or a choice, which is remembered', async (t) => {
  const theme = (page: Page) => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  const lightness = (colour: string) => (colour.match(/\d+/g) ?? []).slice(0, 3).reduce((sum, one) => sum + Number(one), 0);
  const dark = await open(t, server, { at: 'metrics', colorScheme: 'dark' });
  await chart(dark, 'loss');
  assert.ok(lightness(await theme(dark)) < 200);
  const page = await open(t, server, { at: 'metrics', colorScheme: 'light' });
  await chart(page, 'loss');
  assert.ok(lightness(await theme(page)) > 600);
  await screenshot(page, 'light');
  const button = page.getByRole('button', { name: /^Theme/ });
  while (!/dark/.test((await button.getAttribute('aria-label')) ?? '')) await button.click();
  assert.ok(lightness(await theme(page)) < 200);
  await page.reload();
  await chart(page, 'loss');
  assert.ok(lightness(await theme(page)) < 200);
});

test('? shows the keys, and Escape hides them', async (t) => {
  const page = await open(t, server, { at: 'metrics' });
  await chart(page, 'loss');
  await page.keyboard.press('?');
  const help = page.getByRole('dialog', { name: /keyboard/i });
  await help.waitFor();
  for (const key of ['filter tags', 'play', 'full screen', 'pin']) assert.match(await help.innerText(), new RegExp(key));
  await screenshot(page, 'help');
  await page.keyboard.press('Escape');
  await help.waitFor({ state: 'hidden' });
});

test('f fills the screen with a card, p pins it', async (t) => {
  const page = await open(t, server, { at: 'metrics' });
  const loss = await chart(page, 'loss');
  await loss.hover();
  await page.keyboard.press('f');
  await eventually(async () => ((await loss.boundingBox())?.width ?? 0) > 900, 'a card over the whole page');
  await screenshot(page, 'full-screen');
  await page.keyboard.press('Escape');
  await eventually(async () => ((await loss.boundingBox())?.width ?? 0) < 900, 'the card in its place');
  await page.keyboard.press('p');
  await inAddress(page, /pin=/);
  await eventually(async () => /pinned/i.test(await page.getByRole('main').innerText()), 'a place for what is pinned');
});

test('a change right before a reload is not lost', async (t) => {
  const page = await open(t, server, { at: 'metrics' });
  await chart(page, 'loss');
  await inAddress(page, /metrics/);
  await page.evaluate(() => {
    const click = (name: string) => [...document.querySelectorAll('button')].find((one) => one.innerText === name)?.click();
    click('log y');
    click('clip outliers');
    setTimeout(() => location.reload());
  });
  await page.waitForEvent('load');
  await chart(page, 'loss');
  assert.equal(await page.getByRole('button', { name: 'log y' }).getAttribute('aria-pressed'), 'true');
  assert.equal(await page.getByRole('button', { name: 'clip outliers' }).getAttribute('aria-pressed'), 'false');
  assert.match(page.url(), /clip=0.*logy=1/);
});
