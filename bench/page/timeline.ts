// What happens between the start of the process and the first chart with every run listed: requests, tasks of the page's
// thread, and the events that matter. For finding out where the time goes, so it has no bar and is not run with the others.
//   tools/web node bench/page/timeline.ts [PROGRAM...]    by default the command of this build; several are run in turns
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';

import { launch } from '../../tests/browser/chromium.ts';
import { build } from '../../tests/browser/sonde.ts';
import { ended, freePort, kRuns, kSteps, kTags, showsAllRuns, untilAnswers } from './first_chart.ts';
import { scalarsLog } from './measure.ts';

const turns = Number(process.env['TURNS'] ?? 3);
const now = () => performance.timeOrigin + performance.now(); // ms since 1970, as in the page

interface Entry {
  at: number; // ms since the start of the process
  text: string;
}

async function turn(browser: Browser, program: string, log: string): Promise<{ whole: number; entries: Entry[] }> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
  const page = await context.newPage();
  await page.addInitScript(() => {
    const tasks: [number, number][] = [];
    (globalThis as unknown as { tasks: [number, number][] }).tasks = tasks;
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries()) tasks.push([entry.startTime, entry.duration]);
    }).observe({ type: 'longtask', buffered: true });
    let runs = 0;
    let ready = 0;
    new MutationObserver(() => {
      const names = document.querySelectorAll('[data-run]').length;
      const drawn = document.querySelectorAll('[data-chart][data-ready]:not([data-points="0"])').length;
      if (names !== runs) performance.mark(`${names} runs listed`);
      if (drawn !== ready) performance.mark(`${drawn} charts drawn`);
      [runs, ready] = [names, drawn];
    }).observe(document, { subtree: true, childList: true, attributes: true, attributeFilter: ['data-ready', 'data-run'] });
  });
  const cache = mkdtempSync(join(tmpdir(), 'sonde-bench-'));
  const port = await freePort();
  const begin = now();
  const child = spawn(program, ['serve', log, '--port', `${port}`], { env: { ...process.env, XDG_CACHE_HOME: cache }, stdio: 'ignore' });
  try {
    const url = `http://127.0.0.1:${port}/`;
    await untilAnswers(url);
    const answers = now() - begin;
    await page.goto(url, { waitUntil: 'commit' });
    const commit = now() - begin;
    await showsAllRuns(page);
    const whole = now() - begin;
    const seen = await page.evaluate(() => ({
      origin: performance.timeOrigin,
      now: performance.now(),
      tasks: (globalThis as unknown as { tasks: [number, number][] }).tasks,
      marks: performance.getEntriesByType('mark').map((one) => [one.name, one.startTime] as const),
      paints: performance.getEntriesByType('paint').map((one) => [one.name, one.startTime] as const),
      requests: (performance.getEntriesByType('resource') as PerformanceResourceTiming[]).map((one) => ({
        name: one.name.replace(/^https?:\/\/[^/]+\//, ''),
        begin: one.startTime,
        sent: one.requestStart,
        first: one.responseStart,
        end: one.responseEnd,
        size: one.encodedBodySize,
      })),
    }));
    const shift = seen.origin - begin;
    const entries: Entry[] = [
      { at: answers, text: 'the server answers' },
      { at: commit, text: 'playwright: committed' },
      { at: shift, text: 'navigation begins' },
      { at: whole, text: 'playwright: the chart is there' },
      ...seen.tasks.map(([at, ms]) => ({ at: at + shift, text: `long task of ${ms.toFixed(0)} ms` })),
      ...seen.marks.map(([name, at]) => ({ at: at + shift, text: `mark ${name}` })),
      ...seen.paints.map(([name, at]) => ({ at: at + shift, text: name })),
      ...seen.requests.map((one) => ({
        at: one.begin + shift,
        text: `${one.name}: sent +${(one.sent - one.begin).toFixed(0)}, first byte +${(one.first - one.begin).toFixed(0)}, end +${(one.end - one.begin).toFixed(0)} ms, ${one.size} bytes`,
      })),
    ];
    return { whole, entries: entries.sort((a, b) => a.at - b.at) };
  } finally {
    await context.close();
    child.kill('SIGTERM');
    await ended(child);
    rmSync(cache, { recursive: true, force: true });
  }
}

const programs = process.argv.length > 2 ? process.argv.slice(2) : [join(build, 'bin/sonde')];
const log = scalarsLog(kRuns, kTags, kSteps);
const browser = await launch();
const all = new Map<string, number[]>(programs.map((one) => [one, []]));
for (let i = 0; i < turns; ++i)
  for (const program of programs) {
    const { whole, entries } = await turn(browser, program, log);
    all.get(program)!.push(whole);
    if (i === turns - 1) {
      console.log(`\n${program}`);
      for (const { at, text } of entries) console.log(`${at.toFixed(0).padStart(6)} ms  ${text}`);
    }
  }
await browser.close();
for (const [program, times] of all)
  console.log(`${program}: ${[...times].sort((a, b) => a - b).map((ms) => ms.toFixed(0)).join(' ')} ms`);
process.exit(0);
