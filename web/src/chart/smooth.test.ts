import { describe, expect, test } from 'vitest';

import { byPoints, byStep, smoothed } from './smooth';

const digits = (all: Float64Array) => [...all].map((x) => x.toFixed(9));

describe('the smoothed mean', () => {
  test('begins with its first value, and stays if all are equal', () => {
    expect(digits(smoothed(Float64Array.of(4, 4, 4), () => 0.9))).toEqual(['4.000000000', '4.000000000', '4.000000000']);
    expect(smoothed(Float64Array.of(2, 8), () => 0.6)[0]).toBeCloseTo(2);
  });

  test("is TensorBoard's debiased average for one value an interval", () => {
    const values = Float64Array.of(2, 8, 3, 7);
    const steps = Float64Array.of(0, 10, 20, 30);
    let [last, left] = [0, 1];
    const expected = values.map((value) => {
      last = last * 0.6 + 0.4 * value;
      left *= 0.6;
      return last / (1 - left);
    });
    expect(digits(smoothed(values, byStep(0.6, steps, 10)))).toEqual(digits(expected));
  });

  test('counts values by their distance in steps', () => {
    // (2 * 0.25 + 8) / 1.25
    expect(smoothed(Float64Array.of(2, 8), byStep(0.5, Float64Array.of(0, 2), 1))[1]).toBeCloseTo(6.8);
    expect(smoothed(Float64Array.of(2, 8), byStep(0.5, Float64Array.of(0, 1e9), 1))[1]).toBe(8);
  });

  test('over time counts points, not columns of pixels', () => {
    const one = { total: 6, count: Uint32Array.of(2, 2, 2) };
    expect(byPoints(0.6, one)()).toBeCloseTo(0.6);
    expect(byPoints(0.6, { ...one, total: 60 })()).toBeCloseTo(0.6 ** 10);
    expect(byPoints(0.6, { total: 0, count: new Uint32Array() })()).toBe(0.6);
  });
});
