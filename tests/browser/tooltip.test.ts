// The numbers of a tooltip are those that were recorded, at the step that it names.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Locator, Page } from 'playwright-core';

import { chart, eventually, open, screenshot } from './browser.ts';
import { pageLog, Server } from './sonde.ts';

const server = await Server.start(pageLog('steps'));
const kSteps = 20_000;

// As page_logs.cc records them; values are f32.
const valueAt = (step: number) => Math.fround(((step * 7919) % 1000) / 1000 + 2000 / (1000 + step));
const kRuns: Record<string, (step: number) => number | null> = {
  broken: (step) => (step % 100 >= 90 ? NaN : valueAt(step)),
  dense: valueAt,
  ended: (step) => (step < 9_000 ? valueAt(step) : null),
  late: (step) => (step >= 7_000 ? valueAt(step) : null),
  sparse: (step) => (step % 200 === 199 ? valueAt(step) : null),
  swapped: valueAt,
};

// By the definition in docs/api.md.
function smoothedOf(run: string, weight: number, interval: number): Map<number, number> {
  const all = new Map<number, number>();
  let [sum, mass, last] = [0, 0, 0];
  for (let step = 0; step < kSteps; ++step) {
    const value = kRuns[run]!(step);
    if (value === null || Number.isNaN(value)) continue;
    const factor = weight ** ((step - last) / interval);
    sum = sum * factor + value;
    mass = mass * factor + 1;
    last = step;
    all.set(step, sum / mass);
  }
  return all;
}

const numberOf = (text: string) => Number(text.trim().replaceAll(',', '').replace('\u2212', '-'));
// Four digits are shown.
const agree = (shown: string, recorded: number) =>
  Number.isNaN(recorded) ? shown.trim() === 'NaN' : Math.abs(numberOf(shown) - recorded) <= 5.01e-4 * Math.abs(recorded);

interface Shown {
  head: string;
  rows: { run: string; numbers: string[]; at: string }[];
}

// All of it at one moment.
const read = (page: Page): Promise<Shown | null> =>
  page.evaluate(() => {
    const tip = document.querySelector('.tooltip');
    if (!tip) return null;
    const text = (element: Element | null | undefined) => element?.textContent ?? '';
    return {
      head: text(tip.querySelector('.tooltip-head span')),
      rows: [...tip.querySelectorAll('tbody tr')].map((row) => {
        const numbers = [...row.querySelectorAll('td.num')].map(text);
        return { run: text(row.querySelector('.name')), numbers: numbers.slice(0, -1), at: numbers[numbers.length - 1]! };
      }),
    };
  });

// Every row against what was recorded. Returns the step of the tooltip.
function check({ head, rows }: Shown, smoothed: ReadonlyMap<string, ReadonlyMap<number, number>>): number {
  const named = /^step ([\d,]+)$/.exec(head);
  const step = named ? numberOf(named[1]!) : NaN;
  assert.ok(rows.length > 0);
  for (const { run, numbers, at } of rows) {
    const own = /^@ ([\d,]+)$/.exec(at);
    assert.ok(own || (at === '' && named), `${run} at one step: '${at}'`);
    const of = own ? numberOf(own[1]!) : step;
    const recorded = kRuns[run]!(of);
    const where = `${run} at step ${of}: ${numbers.join(', ')}`;
    assert.ok(recorded !== null && agree(numbers[0]!, recorded), `${where}, recorded ${recorded}`);
    if (named && own) assert.equal(kRuns[run]!(step), null, `${where}, though step ${step} was recorded`);
    const average = smoothed.get(run)?.get(of);
    if (smoothed.size > 0 && average !== undefined) assert.ok(agree(numbers[1]!, average), `${where}, smoothed ${average}`);
  }
  return step;
}

const kLeft = 52; // pixels in front of the axis
const kRight = 12;

async function sweep(page: Page, of: Locator, places: number, smoothed: ReadonlyMap<string, ReadonlyMap<number, number>>, stepAt?: (share: number) => number): Promise<void> {
  const box = (await of.boundingBox())!;
  const width = box.width - kLeft - kRight;
  let before = '';
  for (let i = 0; i < places; ++i) {
    const share = (i + 0.37) / places;
    await page.mouse.move(box.x + kLeft + width * share, box.y + box.height * 0.5);
    // What is shown is true at every moment, and soon it is about where the pointer is.
    let wrong: unknown;
    await eventually(async () => {
      const shown = await read(page);
      if (!shown) return false;
      try {
        const step = check(shown, smoothed);
        if (!stepAt) return JSON.stringify(shown) !== before;
        return Math.abs(step - stepAt(share)) <= 1 + 6 * Math.abs(stepAt(share + 1 / width) - stepAt(share));
      } catch (error) {
        wrong = error;
        return true;
      }
    }, `the tooltip at ${share}`);
    if (wrong) throw wrong;
    before = JSON.stringify(await read(page));
  }
}

const averages = (interval: number) => new Map(Object.keys(kRuns).map((run) => [run, smoothedOf(run, 0.6, interval)]));
const kNone = new Map<string, Map<number, number>>();

test('each row has the value that was recorded at the step of the tooltip, and the smoothed one', async (t) => {
  const page = await open(t, server, { at: 'metrics?smooth=0.6' });
  const loss = await chart(page, 'loss');
  await sweep(page, loss, 17, averages(1), (share) => share * (kSteps - 1));
  const { rows } = (await read(page))!;
  assert.deepEqual(rows.map((row) => row.run).sort(), Object.keys(kRuns));
  await screenshot(page, 'tooltip');
});

test('the tooltip is exact in a part of the axis', async (t) => {
  const page = await open(t, server, { at: 'metrics?smooth=0.6&x=8000~9500' });
  await sweep(page, await chart(page, 'loss'), 9, averages(1), (share) => 8000 + share * 1500);
});

test('the tooltip is exact on logarithmic axes, with outliers clipped', async (t) => {
  const page = await open(t, server, { at: 'metrics?smooth=0&logx=1&logy=1&clip=1' });
  await sweep(page, await chart(page, 'loss'), 7, kNone);
});

for (const axis of ['relative', 'wall'])
  test(`on the ${axis} axis each row names its step, and has the value of that`, async (t) => {
    const page = await open(t, server, { at: `metrics?smooth=0.6&axis=${axis}` });
    await sweep(page, await chart(page, 'loss'), 5, averages(1));
  });

test('a single series is smoothed as TensorBoard does, however far its points are from each other', async (t) => {
  const page = await open(t, server, { at: 'metrics?smooth=0.6&show=%2Bsparse' });
  const loss = await chart(page, 'loss');
  // TensorBoard's loop, over the points.
  const expected = new Map<number, number>();
  let [last, left] = [0, 1];
  for (let step = 199; step < kSteps; step += 200) {
    last = last * 0.6 + 0.4 * valueAt(step);
    left *= 0.6;
    expected.set(step, last / (1 - left));
  }
  await sweep(page, loss, 5, new Map([['sparse', expected]]));
  for (const { at } of (await read(page))!.rows) assert.equal(at, '', 'a step that was recorded');
});

test('series of different density are smoothed over the same steps', async (t) => {
  const page = await open(t, server, { at: `metrics?smooth=0.6&table=1&step=${kSteps - 1}` });
  await chart(page, 'loss');
  const row = page.getByRole('region', { name: /Values of loss/ }).getByRole('row', { name: /sparse/ });
  const cells = await eventually(async () => {
    const all = await row.locator('td').allInnerTexts();
    return all.length >= 2 && all[1] !== '' ? all : null;
  }, 'the values of sparse');
  // 200 steps are between its points: with 0.6 a step nothing is left of the one before.
  assert.ok(agree(cells[0]!, valueAt(kSteps - 1)) && agree(cells[1]!, valueAt(kSteps - 1)), cells.join());
});
