import { describe, expect, test } from 'vitest';

import { columnWeight, smoothed } from './smooth';

describe('the smoothed mean', () => {
  test('begins with its first value, and stays where all are alike', () => {
    expect([...smoothed(Float64Array.of(4, 4, 4), 0.9)].map((x) => x.toFixed(9))).toEqual(['4.000000000', '4.000000000', '4.000000000']);
    expect(smoothed(Float64Array.of(2, 8), 0.6)[0]).toBeCloseTo(2);
  });

  test('is an exponential average without its bias', () => {
    // (0.5 * 0.5 * 2 + 0.5 * 8) / (1 - 0.25)
    expect(smoothed(Float64Array.of(2, 8), 0.5)[1]).toBeCloseTo(6);
    const raw = Float64Array.of(1, 2);
    expect(smoothed(raw, 0)).toBe(raw);
  });

  test('counts points, not columns of pixels', () => {
    const one = { total: 6, count: Uint32Array.of(2, 2, 2) };
    expect(columnWeight(0.6, one)).toBeCloseTo(0.6);
    expect(columnWeight(0.6, { ...one, total: 60 })).toBeCloseTo(0.6 ** 10);
    expect(columnWeight(0.6, { total: 0, count: new Uint32Array() })).toBe(0.6);
  });
});
