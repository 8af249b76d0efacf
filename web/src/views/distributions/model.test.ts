import { describe, expect, it } from 'vitest';

import { binAt, type Distribution, distribution, extent, kPercentiles, nearestStep, percentile, stepAt } from './model';

const make = (bins: [number, number, number][]): Distribution =>
  distribution(0, 0, {
    left: bins.map((b) => b[0]),
    right: bins.map((b) => b[1]),
    count: bins.map((b) => b[2]),
    nan: 0,
    positive_infinity: 0,
    negative_infinity: 0,
  });

// The share of values at or below `value`, where those of a bin are spread evenly: what a percentile turns around.
function shareBelow(of: Distribution, value: number): number {
  let below = 0;
  of.count.forEach((n, i) => {
    const left = of.left[i]!;
    const right = of.right[i]!;
    if (value >= right) below += n;
    else if (value > left) below += (n * (value - left)) / (right - left);
  });
  return (below / of.total) * 100;
}

describe('percentile', () => {
  it('ends with the smallest and the largest value if they are known, and with the edges of the bins elsewhere', () => {
    const bins: [number, number, number][] = [[-1.0625, -1, 1], [0.9375, 1.0625, 9]];
    const known = { ...make(bins), min: -1.01, max: 1 };
    expect([0, 100].map((percent) => percentile(make(bins), percent))).toEqual([-1.0625, 1.0625]);
    expect([0, 100].map((percent) => percentile(known, percent))).toEqual([-1.01, 1]);
    expect(percentile(known, 93.32)).toBe(1); // none is outside of them
    expect(percentile(known, 1)).toBe(-1.01);
    expect(percentile(known, 30.85)).toBe(percentile(make(bins), 30.85));
    expect(percentile({ ...make([]), min: 0, max: 0 }, 100)).toBeNaN();
  });

  it('turns the cumulative share around, in bins of any width', () => {
    let seed = 1;
    const random = (): number => (seed = (seed * 16807) % 2147483647) / 2147483647;
    for (let round = 0; round < 50; ++round) {
      let at = -5 * random();
      const bins: [number, number, number][] = [];
      for (let i = 0; i < 20; ++i) {
        const next = at + 10 ** (random() * 4 - 3);
        bins.push([at, next, 1 + Math.floor(random() * 100)]);
        at = next;
      }
      const of = make(bins);
      for (const percent of kPercentiles) expect(shareBelow(of, percentile(of, percent))).toBeCloseTo(percent, 6);
    }
  });

  it('is within the bins that hold something at its ends', () => {
    const of = make([[-2, -1, 0], [-1, 0, 3], [0, 4, 1], [4, 9, 0]]);
    expect(percentile(of, 0)).toBe(-1);
    expect(percentile(of, 100)).toBe(4);
    expect(percentile(of, 37.5)).toBe(-0.5);
  });

  it('is the value if all values are equal', () => {
    const of = make([[3, 3, 10]]);
    for (const percent of kPercentiles) expect(percentile(of, percent)).toBe(3);
  });

  it('is nothing if there is no finite value', () => {
    expect(percentile(make([]), 50)).toBeNaN();
    expect(percentile(make([[0, 1, 0]]), 50)).toBeNaN();
  });
});

describe('distribution', () => {
  it('reads the numbers that JSON cannot have, and keeps open bins on the axis', () => {
    const of = distribution(7, 1, {
      left: ['-Infinity' as unknown as number, 0],
      right: [0, 'Infinity' as unknown as number],
      count: [1, 2],
      nan: 3,
      positive_infinity: 0,
      negative_infinity: 0,
    });
    expect([...of.left]).toEqual([-Number.MAX_VALUE, 0]);
    expect([...of.right]).toEqual([0, Number.MAX_VALUE]);
    expect(of.total).toBe(3);
    expect(of.nan).toBe(3);
  });

  it('turns bins with crossed edges and leaves out what has none', () => {
    const of = make([[2, 1, 5], [NaN, 1, 5], [3, 4, NaN]]);
    expect([...of.left]).toEqual([1]);
    expect([...of.right]).toEqual([2]);
    expect(of.total).toBe(5);
  });
});

describe('binAt', () => {
  const of = make([[-1, 0, 4], [0, 0, 50], [0, 1, 6], [1, 2, 0]]);

  it('finds the bin around a value', () => {
    expect(binAt(of, -0.5)).toBe(0);
    expect(binAt(of, 0.5)).toBe(2);
  });

  it('finds a bin without width from a little way off', () => {
    expect(binAt(of, 0.02, 0.05)).toBe(1);
    expect(binAt(of, 0.1, 0.05)).toBe(2);
  });

  it('finds nothing beside the bins and in empty ones', () => {
    expect(binAt(of, 1.5)).toBe(-1);
    expect(binAt(of, -3)).toBe(-1);
  });
});

describe('steps', () => {
  const steps = [{ step: 10 }, { step: 20 }, { step: 40 }];

  it('are those at or before the cursor, or the first', () => {
    expect([0, 10, 19, 20, 39, 1000].map((s) => stepAt(steps, s))).toEqual([0, 0, 0, 1, 1, 2]);
    expect(stepAt([], 3)).toBe(-1);
  });

  it('are the nearest to the pointer', () => {
    expect([0, 14, 16, 29, 31, 99].map((s) => nearestStep(steps, s))).toEqual([0, 0, 1, 1, 2, 2]);
    expect(nearestStep([], 3)).toBe(-1);
  });
});

it('the extent is that of bins that hold something', () => {
  expect(extent([make([[-9, -1, 0], [-1, 2, 1]]), make([[0, 5, 2], [5, 90, 0]])])).toEqual([-1, 5]);
  expect(extent([make([[0, 1, 0]])])).toBeNull();
});
