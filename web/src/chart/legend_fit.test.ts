import { describe, expect, test } from 'vitest';

import { legendFit } from './legend_fit';

describe('the names below a chart', () => {
  const box = { more: 60, gap: 10, room: 320, rows: 2 };

  test('are all there if they fit', () => {
    expect(legendFit([], false, box)).toBe(0);
    expect(legendFit([100, 100, 100], false, box)).toBe(3);
    expect(legendFit([100, 100, 100, 100, 100, 100], false, box)).toBe(6);
  });

  test('end with whole rows and the number of the others', () => {
    expect(legendFit([100, 100, 100, 100, 100, 100, 100], false, box)).toBe(5);
    expect(legendFit([100, 100, 100, 100, 100, 100], true, box)).toBe(5);
    expect(legendFit([100, 100, 100, 100, 100, 30], true, box)).toBe(6);
    expect(legendFit([100, 100, 100, 100, 100, 30], true, { ...box, more: 61 })).toBe(5);
  });

  test('are one at least, however narrow it is', () => {
    expect(legendFit([500, 500, 500], false, box)).toBe(1);
  });
});
