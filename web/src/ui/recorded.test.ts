import { describe, expect, test } from 'vitest';

import { recordedFrom } from './recorded';

describe('the next recorded step', () => {
  const steps = [0, 100, 200, 1000];
  test('is that after the cursor, wherever the cursor is', () => {
    expect(recordedFrom(steps, 100, 1)).toBe(200);
    expect(recordedFrom(steps, 101, 1)).toBe(200);
    expect(recordedFrom(steps, 101, -1)).toBe(100);
    expect(recordedFrom(steps, 100, -1)).toBe(0);
  });
  test('ends at the first and the last', () => {
    expect(recordedFrom(steps, 1000, 1)).toBe(1000);
    expect(recordedFrom(steps, 0, -1)).toBe(0);
    expect(recordedFrom(steps, 100, 10)).toBe(1000);
    expect(recordedFrom([], 5, 1)).toBe(null);
  });
});
