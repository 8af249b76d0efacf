import { describe, expect, test } from 'vitest';

import { weightFor } from './smoothing';

describe('the default smoothing', () => {
  test('is the usual one for points that can be told apart', () => {
    expect(weightFor(0.1)).toBe(0.6);
    expect(weightFor(1)).toBe(0.6);
  });
  test('weighs pixels instead of points where there are many of them', () => {
    expect(weightFor(16) ** 16).toBeCloseTo(0.6, 2);
    expect(weightFor(55)).toBe(weightFor(64));
  });
  test('never reaches 1', () => {
    expect(weightFor(1e9)).toBeLessThan(1);
  });
});
