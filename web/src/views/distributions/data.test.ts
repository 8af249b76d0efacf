import { afterEach, expect, test, vi } from 'vitest';

import type { Run } from '../../api_types';
import { runs } from '../../state';
import { ask } from './data';

interface Recorded {
  steps: number;
  nan?: number[];
  infinite?: number[];
}

// A server with statistics of steps 0, 1, 2, ...: values from -1 to 1 in bins that reach a little farther.
function serve({ steps, nan = [], infinite = [] }: Recorded): string[] {
  const asked: string[] = [];
  vi.stubGlobal('fetch', (address: string) => {
    asked.push(address);
    const [path = '', query = ''] = address.split('?');
    const given = new URLSearchParams(query);
    const first = Number(given.get('first') ?? 0);
    const last = Math.min(Number(given.get('last') ?? Infinity), steps - 1);
    const total = last - first + 1;
    const count = Math.min(total, Number(given.get('most')));
    const chosen = Array.from({ length: count }, (_, i) => first + Math.round((i * (total - 1)) / Math.max(1, count - 1)));
    const counts = (step: number) => ({
      nan: Number(nan.includes(step)),
      positive_infinity: Number(infinite.includes(step)),
      negative_infinity: 0,
    });
    const common = { total, steps: chosen, times: chosen.map((step) => 1e9 + step) };
    const histogram = { left: [-1.0625], right: [1.0625], count: [10] };
    const same = (value: number) => chosen.map(() => value);
    const answer = path.endsWith('histograms')
      ? { kind: 'statistics', ...common, histograms: chosen.map((step) => ({ ...histogram, ...counts(step) })) }
      : {
          ...common,
          ...{ count: same(10), zeros: same(0), min: same(-1), max: same(1), mean: same(0), std: same(1) },
          nan: chosen.map((step) => counts(step).nan),
          positive_infinity: chosen.map((step) => counts(step).positive_infinity),
          negative_infinity: same(0),
        };
    return Promise.resolve(Response.json(answer));
  });
  return asked;
}

const question = {
  tag: 'w',
  runs: [{ run: 'a', kinds: { statistics: { points: 1, last: 0 } } }],
  source: 'auto' as const,
  window: null,
  count: 24,
};

async function answered(recorded: Recorded, firstBad: number | null) {
  runs.value = [{ run: 'a', first_bad_step: firstBad } as Run];
  const asked = serve(recorded);
  const [found] = await ask(question, new AbortController().signal);
  return { found: found!, asked };
}

afterEach(() => void vi.unstubAllGlobals());

test('a step that is not finite is found also if it is not drawn, and no drawn one is bad', async () => {
  const { found } = await answered({ steps: 1000, nan: [501, 777], infinite: [3] }, 3);
  expect(found.steps.map((one) => one.step)).not.toContain(501);
  expect([found.firstNan, found.firstInfinite]).toEqual([501, 3]);
});

test('of a series that is longer than an answer, the very first that is not finite is found', async () => {
  const bad = Array.from({ length: 5000 }, (_, i) => 33_333 + i);
  const { found } = await answered({ steps: 100_000, nan: bad }, 33_333);
  expect([found.firstNan, found.firstInfinite]).toEqual([33_333, null]);
});

test('where everything was finite nothing is searched for', async () => {
  const { found, asked } = await answered({ steps: 1000 }, null);
  expect([found.firstNan, found.firstInfinite]).toEqual([null, null]);
  expect(asked.length).toBe(2);
  for (const address of asked) expect(address).toContain('most=24');
});

test('the smallest and the largest value come with the bins', async () => {
  const { found } = await answered({ steps: 1000 }, null);
  for (const one of found.steps) expect([one.min, one.max]).toEqual([-1, 1]);
});
