import { describe, expect, it } from 'vitest';

import { type Axis, linearAxis, logAxis, logThreshold, niceTicks } from './axis';

describe('niceTicks', () => {
  it('are round numbers within the range, no more than asked for', () => {
    expect(niceTicks(0, 1, 5)).toEqual([0, 0.5, 1]);
    expect(niceTicks(0, 1, 6)).toEqual([0, 0.2, 0.4, 0.6, 0.8, 1]);
    expect(niceTicks(-3, 3, 7)).toEqual([-3, -2, -1, 0, 1, 2, 3]);
    expect(niceTicks(0.1, 0.3, 5)).toEqual([0.1, 0.15, 0.2, 0.25, 0.3]);
    expect(niceTicks(1e-9, 4e-9, 4)).toEqual([1e-9, 2e-9, 3e-9, 4e-9]);
  });

  it('never number more than asked for, and never none', () => {
    let seed = 7;
    const random = (): number => (seed = (seed * 16807) % 2147483647) / 2147483647;
    for (let i = 0; i < 500; ++i) {
      const low = (random() - 0.5) * 10 ** (random() * 20 - 10);
      const high = low + 10 ** (random() * 20 - 10);
      if (!(high > low)) continue;
      for (const most of [3, 5, 8]) {
        const ticks = niceTicks(low, high, most);
        expect(ticks.length).toBeLessThanOrEqual(most);
        expect(ticks.length).toBeGreaterThan(0);
      }
    }
  });

  it('do not hang on a range without a size', () => {
    expect(niceTicks(2, 2, 5)).toEqual([2]);
    expect(niceTicks(NaN, 1, 5)).toEqual([]);
    expect(niceTicks(-Number.MAX_VALUE, Number.MAX_VALUE, 5)).toEqual([-Number.MAX_VALUE]);
  });
});

function turnsAround(axis: Axis): void {
  const span = Math.abs(axis.to - axis.from);
  for (let i = 0; i <= 20; ++i) {
    const place = axis.from + ((axis.to - axis.from) * i) / 20;
    expect(Math.abs(axis.place(axis.value(place)) - place)).toBeLessThan(span * 1e-6);
  }
  expect(axis.place(axis.low)).toBeCloseTo(axis.from, 6);
  expect(axis.place(axis.high)).toBeCloseTo(axis.to, 6);
}

describe('axes', () => {
  it('turn around: places to values and back', () => {
    turnsAround(linearAxis(-2, 6, 10, 410));
    turnsAround(linearAxis(-2, 6, 200, 10)); // upwards
    turnsAround(logAxis(1e-6, 1e3, 1, 0, 300));
    turnsAround(logAxis(-10, 1e3, 1e-4, 0, 300));
    turnsAround(logAxis(0, 1e3, 1e-4, 0, 300));
  });

  it('give a single value the middle', () => {
    expect(linearAxis(5, 5, 0, 100).place(5)).toBeCloseTo(50);
    expect(linearAxis(0, 0, 0, 100).place(0)).toBeCloseTo(50);
  });

  it('give each decade the same room if all values are positive', () => {
    const axis = logAxis(1e-3, 1e3, 1, 0, 600);
    expect(axis.place(1)).toBeCloseTo(300);
    expect(axis.place(10)).toBeCloseTo(400);
    expect(axis.ticks).toEqual([1e-3, 1e-1, 10, 1e3]);
  });

  it('are symmetric if signs mix: zero has a place, and both sides are equal', () => {
    const axis = logAxis(-100, 100, 1e-3, 0, 400);
    expect(axis.place(0)).toBeCloseTo(200);
    expect(axis.place(10) - 200).toBeCloseTo(200 - axis.place(-10));
    expect(axis.place(100) - axis.place(10)).toBeCloseTo(axis.place(10) - axis.place(1), 0);
    expect(axis.ticks).toContain(0);
    expect(axis.ticks).toContain(-100);
    expect(axis.ticks).toContain(100);
    expect([...axis.ticks].sort((a, b) => a - b)).toEqual(axis.ticks);
  });
});

describe('logThreshold', () => {
  const bins = (all: [number, number, number][]) => ({
    left: Float64Array.from(all, (b) => b[0]),
    right: Float64Array.from(all, (b) => b[1]),
    count: Float64Array.from(all, (b) => b[2]),
  });

  it('leaves one value in a hundred below it', () => {
    expect(logThreshold([bins([[1e-20, 3e-20, 1], [0.5, 1.5, 199]])])).toBe(1);
    expect(logThreshold([bins([[-3e-6, -1e-6, 5], [0.5, 1.5, 195]])])).toBe(2e-6);
  });

  it('does not count zeros, and is 1 if there is nothing else', () => {
    expect(logThreshold([bins([[0, 0, 500], [2, 4, 1]])])).toBe(3);
    expect(logThreshold([bins([[0, 0, 500]])])).toBe(1);
  });
});
