// From the start of the process to the first chart with data in the browser, ours and TensorBoard's in turns. The browser
// is running already; every turn has an empty cache, of the browser and of the index.
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';

import { build, source } from '../../tests/browser/sonde.ts';
import { type Row, median, scalarsLog } from './measure.ts';

const turns = 5;
export const kRuns = 10;
export const kTags = 25;
export const kSteps = 20_000;

interface Turn {
  first: number; // seconds to a first chart, whatever is listed then
  all: number; // seconds to a chart with every run listed
}

export function freePort(): Promise<number> {
  return new Promise((found) => {
    const server = createServer();
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => found(typeof address === 'object' && address ? address.port : 0));
    });
  });
}

export function ended(child: ChildProcess): Promise<void> {
  return new Promise((done) => {
    if (child.exitCode !== null || child.signalCode !== null) return done();
    child.once('exit', () => done());
  });
}

export async function untilAnswers(url: string): Promise<void> {
  for (;;) {
    try {
      await fetch(url);
      return;
    } catch {
      await new Promise((done) => setTimeout(done, 5));
    }
  }
}

async function turn(browser: Browser, command: (port: number) => [string, string[]], look: (page: Page, sinceStart: () => number) => Promise<number>): Promise<Turn> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
  context.setDefaultTimeout(120_000);
  const page = await context.newPage();
  const cache = mkdtempSync(join(tmpdir(), 'sonde-bench-'));
  const port = await freePort();
  const [program, args] = command(port);
  const begin = performance.now();
  const child = spawn(program, args, { env: { ...process.env, XDG_CACHE_HOME: cache, TMPDIR: cache }, stdio: 'ignore' });
  try {
    const url = `http://127.0.0.1:${port}/`;
    await untilAnswers(url);
    await page.goto(url, { waitUntil: 'commit' });
    const sinceStart = () => (performance.now() - begin) / 1000;
    const first = await look(page, sinceStart);
    return { first, all: sinceStart() };
  } finally {
    await context.close();
    child.kill('SIGTERM');
    await ended(child);
    rmSync(cache, { recursive: true, force: true });
  }
}

// Every run is in the list and a chart has drawn its data.
export async function showsAllRuns(page: Page): Promise<void> {
  await page.waitForFunction(
    (wanted) => {
      const names = new Set([...document.querySelectorAll('[data-run]')].map((one) => one.getAttribute('data-run')));
      const drawn = [...document.querySelectorAll('[data-chart][data-ready]')].some((one) => Number(one.getAttribute('data-points')) > 0);
      return drawn && names.size >= wanted;
    },
    kRuns,
    { polling: 'raf' },
  );
}

async function ours(page: Page, sinceStart: () => number): Promise<number> {
  await showsAllRuns(page);
  return sinceStart();
}

// A chart has lines, and no circle that says it is still waiting for them; and every run is in the list. Its page learns of
// runs only when it is loaded, so it is loaded again until it has all, as somebody would who waits for them.
async function tensorboards(page: Page, sinceStart: () => number): Promise<number> {
  let first: number | null = null;
  for (;;) {
    const listed = await page.waitForFunction(
      () => {
        if (!document.querySelector('line-chart path[d]') || document.querySelector('card-view mat-spinner')) return 0;
        const text = document.querySelector('runs-data-table')?.textContent ?? '';
        return Math.max(1, new Set(text.match(/run_\d+/g)).size);
      },
      undefined,
      { polling: 'raf' },
    );
    first ??= sinceStart();
    if ((await listed.jsonValue()) >= kRuns) return first;
    await page.reload({ waitUntil: 'commit' });
  }
}

export async function firstChart(browser: Browser): Promise<Row> {
  const log = scalarsLog(kRuns, kTags, kSteps);
  const all: { ours: Turn[]; theirs: Turn[] } = { ours: [], theirs: [] };
  for (let i = 0; i < turns; ++i) {
    all.ours.push(await turn(browser, (port) => [join(build, 'bin/sonde'), ['serve', log, '--port', `${port}`]], ours));
    const tensorboard = join(source, 'build/venv/bin/tensorboard');
    all.theirs.push(
      await turn(browser, (port) => [tensorboard, ['--logdir', log, '--host', '127.0.0.1', '--port', `${port}`]], tensorboards),
    );
  }
  const [our, their] = [median(all.ours.map((one) => one.all)), median(all.theirs.map((one) => one.all))];
  const early = median(all.theirs.map((one) => one.first));
  return {
    what: 'process start to the first chart, 5M points, all runs listed',
    limit: '<= 1/10 of `tensorboard --logdir`',
    measured: `${our.toFixed(2)} s against ${their.toFixed(2)} s (${early.toFixed(2)} s with some of the runs): 1/${(their / our).toFixed(1)}`,
    ratio: their / our / 10,
    met: our * 10 <= their,
  };
}
