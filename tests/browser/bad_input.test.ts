// What the page shows if the log, the link or the server is broken.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

import { chart, charts, eventually, open, run, screenshot } from './browser.ts';
import { demoLog, newFolder, pageLog, Server } from './sonde.ts';

const eventFile = (folder: string): string => {
  const name = readdirSync(folder).find((one) => one.includes('tfevents'));
  assert.ok(name);
  return join(folder, name);
};

test('a damaged log is shown as far as it goes, and the page names the damage', async (t) => {
  const folder = demoLog('--steps', '200');
  const path = eventFile(join(folder, 'train'));
  const bytes = readFileSync(path);
  bytes.fill(0x55, bytes.length >> 1, (bytes.length >> 1) + 100);
  writeFileSync(path, bytes);
  const server = await Server.start(folder);
  const page = await open(t, server);
  await chart(page, 'loss');
  await eventually(async () => /damage/i.test(await page.locator('body').innerText()), 'a word about the damage');
  await screenshot(page, 'damaged');
});

test('a link to a run that does not exist shows the page, and says so', async (t) => {
  const server = await Server.start(demoLog('--steps', '100'));
  const page = await open(t, server, { at: 'metrics?show=%2Bno-such-run' });
  await run(page, 'train').waitFor();
  assert.equal(await charts(page).count(), 0);
  await eventually(async () => /no run|show .*run|hidden|not (here|there)/i.test(await page.getByRole('main').innerText()), 'what to do');
  await screenshot(page, 'unknown-run');
});

test('an address that makes no sense opens the page', async (t) => {
  const server = await Server.start(demoLog('--steps', '100'));
  const page = await open(t, server, { at: 'no-such-view?smooth=much&axis=sideways&step=x&colors=%7B&pin=%&show=?' });
  await run(page, 'train').waitFor();
  await chart(page, 'loss');
});

test('a log directory that disappears takes nothing else with it', async (t) => {
  const folder = pageLog('trials');
  const server = await Server.start(folder);
  const page = await open(t, server);
  await chart(page, 'loss');
  rmSync(folder, { recursive: true });
  await eventually(async () => (await page.locator('[data-run]').count()) === 0 || /gone|disappeared|cannot|no longer/i.test(await page.locator('body').innerText()), 'the end of the runs');
  await page.reload();
  await page.getByRole('main').waitFor();
  await screenshot(page, 'disappeared');
  await page.close(); // it may still be asking
  assert.equal(await server.stop(), 0);
});

test('an empty directory teaches how to record', async (t) => {
  const folder = newFolder();
  const server = await Server.start(folder);
  const page = await open(t, server);
  const main = page.getByRole('main');
  await eventually(async () => /sonde demo|Recorder::open|SummaryWriter/.test(await main.innerText()), 'something to type');
  await screenshot(page, 'empty');
});
