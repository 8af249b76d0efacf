// Everything around the charts: menus, downloads, names, messages, the focus, and the order of the runs table.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Locator, Page } from 'playwright-core';

import { chart, eventually, open, phone, screenshot } from './browser.ts';
import { Job, newFolder, pageLog, Server } from './sonde.ts';

const trials = await Server.start(pageLog('trials'));

// Two runs of a group: one has an outlier, the other ends with NaN. And a series without a value above zero, and one
// whose name ends where another part should begin.
async function oddLog(): Promise<string> {
  const folder = newFolder();
  for (const run of ['0', '1']) {
    const job = new Job(join(folder, 'group', run));
    for (let step = 0; step < 40; ++step) {
      const loss = run === '1' && step >= 30 ? NaN : run === '0' && step === 20 ? 50 : 1 - step / 100;
      await job.record('loss', step, loss);
    }
    await job.record('zero', 0, 0);
    await job.record('zero', 1, -1);
    await job.record('bare/', 0, 1);
    await job.finish();
  }
  return folder;
}
const odd = await Server.start(await oddLog());

const card = (page: Page, name: string) => page.getByRole('region', { name, exact: true }).first();

async function openMenu(page: Page, tag: string): Promise<Locator> {
  await (await chart(page, tag)).hover();
  await page.getByRole('button', { name: `More about ${tag}` }).first().click();
  return page.getByRole('group', { name: `More about ${tag}` });
}

async function download(page: Page, link: Locator): Promise<string> {
  const [file] = await Promise.all([page.waitForEvent('download'), link.click()]);
  return readFileSync(await file.path()).toString();
}
const linesOf = (text: string) => text.trim().split(/\r?\n/);

test('zoomed in, files have what is in view', async (t) => {
  const page = await open(t, trials, { at: 'metrics?x=49.5~99.5' });
  const menu = await openMenu(page, 'loss');
  const one = linesOf(await download(page, menu.getByRole('link', { name: 'slow/0 as CSV' })));
  assert.equal(one.length, 51);
  assert.match(one[1]!, /^slow\/0,loss,50,/);
  const json = JSON.parse(await download(page, menu.getByRole('link', { name: 'slow/0 as JSON' }))) as number[][];
  assert.deepEqual([json.length, json[0]![1], json[49]![1]], [50, 50, 99]);
  const all = linesOf(await download(page, menu.getByRole('button', { name: 'All 6 lines, one CSV' })));
  assert.equal(all.length, 1 + 6 * 50);
  assert.equal(all.filter((line) => line.startsWith('run,tag,')).length, 1);
  assert.equal(new Set(all.slice(1).map((line) => line.split(',')[0])).size, 6);
});

test('on an axis of time as well', async (t) => {
  const at = 'metrics?axis=relative&show=%2Bgroup/0';
  const csv = async (page: Page) => linesOf(await download(page, (await openMenu(page, 'loss')).getByRole('link', { name: /as CSV/ }))).slice(1);
  const page = await open(t, odd, { at });
  const all = await csv(page);
  const { runs } = await page.evaluate(async () => (await (await fetch('api/runs')).json()) as { runs: { run: string; started: number }[] });
  const started = runs.find(({ run }) => run === 'group/0')!.started;
  const times = all.map((line) => Number(line.split(',')[3]) - started);
  const before = (point: number) => (times[point - 1]! + times[point]!) / 2; // their distance is not known
  assert.deepEqual(await csv(await open(t, odd, { at: `${at}&x=${before(10)}~${before(20)}` })), all.slice(10, 20));
});

test('means and spreads are files, too', async (t) => {
  const page = await open(t, trials, { at: 'metrics?mean=1&smooth=0&x=50~99' });
  const csv = linesOf(await download(page, (await openMenu(page, 'loss')).getByRole('button', { name: /spreads, CSV/ })));
  assert.equal(csv[0], 'group,step,mean,low,high,min,max,runs');
  const row = csv.find((line) => line.startsWith('slow,'))!.split(',').map(Number);
  assert.ok(Math.abs(row[2]! - (Math.exp(-0.01 * row[1]!) + 0.1)) < 1e-3, row.join());
  assert.equal(row[7], 3);
  assert.ok(csv.slice(1).every((line) => Number(line.split(',')[1]) >= 50 && Number(line.split(',')[1]) <= 99));
  const json = await download(page, (await openMenu(page, 'loss')).getByRole('button', { name: /spreads, JSON/ }));
  assert.deepEqual((JSON.parse(json) as { group: string }[]).map((one) => one.group), ['fast', 'slow']);
});

test('a logarithmic axis says that it shows nothing if no value is above zero', async (t) => {
  const page = await open(t, odd, { at: 'metrics?logy=1' });
  await chart(page, 'zero');
  await eventually(async () => /shows only values above zero, and none are in view/.test(await card(page, 'zero').innerText()), 'the sentence');
  assert.doesNotMatch(await card(page, 'loss').innerText(), /above zero/);
});

test('a menu opens where there is room', async (t) => {
  for (const viewport of [{ width: 1280, height: 500 }, phone]) {
    const page = await open(t, trials, { at: 'metrics', viewport });
    const loss = await chart(page, 'loss');
    // To the bottom of what can be seen.
    const main = (await page.getByRole('main').boundingBox())!;
    const box = (await card(page, 'loss').boundingBox())!;
    await page.getByRole('main').evaluate((element, by) => {
      (element.firstElementChild as HTMLElement).style.paddingTop = `${by}px`;
    }, main.y + main.height - box.y - 90);
    await loss.hover({ position: { x: 60, y: 5 } });
    await page.getByRole('button', { name: 'More about loss' }).first().click();
    const panel = (await page.getByRole('group', { name: 'More about loss' }).boundingBox())!;
    assert.ok(panel.height > 100, `${panel.height} px tall`);
    assert.ok(panel.y >= main.y && panel.y + panel.height <= main.y + main.height, JSON.stringify({ panel, main }));
    assert.ok(panel.x >= main.x && panel.x + panel.width <= main.x + main.width, JSON.stringify({ panel, main }));
  }
});

test('a card keeps the focus when it is pinned, unpinned, and fills the screen', async (t) => {
  const page = await open(t, trials, { at: 'metrics' });
  const loss = await chart(page, 'loss');
  await loss.focus();
  const focused = () => page.evaluate(() => [document.activeElement?.className, document.activeElement?.closest('[data-card]')?.getAttribute('data-card')]);
  const pinned = page.getByRole('region', { name: 'Pinned', exact: true });
  const kept = (what: string) => eventually(async () => JSON.stringify(await focused()) === JSON.stringify(['chart', 'metrics:loss']), what);
  await page.keyboard.press('p');
  await pinned.locator('[data-chart="loss"]').waitFor();
  await kept('the focus in the pinned card');
  await page.keyboard.press('f');
  await page.locator('.card-full').waitFor();
  await kept('the focus in the card that fills the screen');
  await page.keyboard.press('Escape');
  await page.locator('.card-full').waitFor({ state: 'detached' });
  await kept('the focus in the card after that');
  await page.keyboard.press('p');
  await pinned.waitFor({ state: 'detached' });
  await kept('the focus in the card in its old place');
  // By its button, the button keeps it.
  await card(page, 'loss').getByRole('button', { name: 'Pin to the top (p)' }).focus();
  await page.keyboard.press('Enter');
  await pinned.locator('[data-chart="loss"]').waitFor();
  await eventually(() => page.evaluate(() => document.activeElement?.getAttribute('aria-label') === 'Unpin (p)'), 'the focus on the button');
});

test('one outlier does not flatten the first chart, which says so', async (t) => {
  const page = await open(t, odd);
  await chart(page, 'loss');
  await eventually(async () => /outliers up to 50 are clipped/.test(await card(page, 'loss').innerText()), 'that it is clipped');
  await screenshot(page, 'overview-clipped');
  const menu = await openMenu(page, 'loss');
  await menu.getByLabel('Clip outliers').uncheck();
  await eventually(async () => !/are clipped/.test(await card(page, 'loss').innerText()), 'everything');
});

test('the names of lines end with a whole row', async (t) => {
  const many = await Server.start(pageLog('many', 30, 1, 5));
  for (const viewport of [{ width: 1440, height: 900 }, { width: 1280, height: 800 }, phone]) {
    const page = await open(t, many, { viewport });
    await chart(page, 'group_00/tag_0000');
    const legend = page.getByRole('list', { name: 'Lines' });
    const more = await eventually(async () => Number(/\+(\d+) more/.exec(await legend.innerText())?.[1]), 'how many are not named');
    const shown = await legend.locator('[data-name]:not(.legend-off)').count();
    assert.equal(shown + more, 30);
    const cut = await legend.evaluate((list) => {
      const end = list.getBoundingClientRect();
      const seen = [...list.querySelectorAll('li:not(.legend-off)')].map((one) => one.getBoundingClientRect());
      return { rows: new Set(seen.map((one) => one.top)).size, cut: seen.filter((one) => one.bottom > end.bottom || one.right > end.right).length };
    });
    assert.deepEqual(cut, { rows: 2, cut: 0 });
    await screenshot(page, `legend-${viewport.width}`);
  }
});

test('a mean says which group it is of, and which runs have left it', async (t) => {
  const page = await open(t, odd, { at: 'metrics?mean=1' });
  await chart(page, 'loss');
  const legend = card(page, 'loss').getByRole('list', { name: 'Lines' });
  await eventually(async () => /group\s*1 of 2 runs from step 30: NaN or Inf/.test(await legend.innerText()), 'the group and its runs');
  await screenshot(page, 'mean-legend');
  const two = await open(t, trials, { at: 'metrics?mean=1' });
  await chart(two, 'loss');
  await eventually(async () => /^fast\s+slow$/.test((await card(two, 'loss').getByRole('list', { name: 'Lines' }).innerText()).trim()), 'both groups');
});

test('a click on a heading sorts the runs, also in a link', async (t) => {
  const page = await open(t, trials);
  const table = page.getByRole('region', { name: 'Runs table' });
  const names = () => table.locator('[data-run-row]').evaluateAll((rows) => rows.map((row) => row.getAttribute('data-run-row')).join(' '));
  const head = table.getByRole('columnheader', { name: /^loss/ });
  await head.getByRole('button').click();
  await eventually(async () => (await names()) === 'fast/0 fast/1 slow/0 fast/2 slow/1 slow/2', 'the smallest loss first');
  assert.equal(await head.getAttribute('aria-sort'), 'ascending');
  await head.getByRole('button').click();
  await eventually(async () => (await names()) === 'slow/2 slow/1 fast/2 slow/0 fast/1 fast/0', 'the largest loss first');
  await eventually(async () => /runsort=-m:loss/.test(decodeURIComponent(page.url())), 'the order in the address');
  const linked = await open(t, trials, { at: new URL(page.url()).hash.slice(2) });
  await linked.getByRole('columnheader', { name: /^loss/ }).and(linked.locator('[aria-sort=descending]')).waitFor();
  await head.getByRole('button').click();
  await eventually(async () => (await names()).startsWith('fast/0 fast/1 fast/2'), 'the order of the list');
});

test('the column of notes is narrow until one writes into it', async (t) => {
  const page = await open(t, trials);
  const cell = page.locator('[data-run-row="fast/0"] .note-cell');
  const width = async () => (await cell.boundingBox())!.width;
  assert.ok((await width()) <= 160, `${await width()} px`);
  await cell.getByRole('button').click();
  await cell.getByRole('textbox').waitFor();
  assert.ok((await width()) > 260, `${await width()} px`);
  await page.keyboard.press('Escape');
});

test('every card has a name', async (t) => {
  const page = await open(t, odd, { at: 'metrics' });
  await chart(page, 'bare/');
  await card(page, 'bare/').getByRole('heading', { name: 'bare/' }).waitFor();
});

test('code to copy begins at the left', async (t) => {
  const page = await open(t, await Server.start(newFolder()));
  const code = page.getByText('sonde::Recorder');
  await code.waitFor();
  assert.equal(await code.evaluate((element) => getComputedStyle(element).textAlign), 'left');
});
