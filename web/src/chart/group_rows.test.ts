import { describe, expect, test } from 'vitest';

import type { TableRow } from '../api_types';
import { groupRow, reached } from './group_rows';

const row = (run: string, value: number, more: Partial<TableRow> = {}): TableRow => ({
  run,
  tag: 'loss',
  count: 1,
  step: 10,
  value,
  smoothed: null,
  first: value,
  last: value,
  min: value,
  max: value,
  mean: value,
  delta: 0,
  min_step: 10,
  max_step: 10,
  time: 0,
  relative: 0,
  ...more,
});

describe('the numbers of a group', () => {
  test('are means over its runs, with their spread', () => {
    const found = groupRow([row('a', 1, { smoothed: 2, min: 0, delta: -1 }), row('b', 3, { smoothed: 4, max: 9, delta: -3 })]);
    expect(found).toMatchObject({ runs: 2, value: 2, std: 1, smoothed: 3, min: 0, max: 9, delta: -2 });
  });

  test('exclude non-finite values', () => {
    expect(groupRow([row('a', 1), { ...row('b', 0), value: 'NaN', min: 'NaN', max: 'NaN', mean: 'NaN' }])).toMatchObject({ runs: 1, value: 1 });
    expect(groupRow([{ ...row('b', 0), value: 'NaN' }])).toBe(null);
    expect(groupRow([])).toBe(null);
  });

  test('at a step are of the runs that have come so far', () => {
    const rows = [row('short', 1), row('long', 2), row('none', 3, { count: 0 })];
    const last = (one: TableRow) => (one.run === 'short' ? 10 : 100);
    const names = (step: number) => reached(rows, last, step).map((one) => one.run);
    expect(names(5)).toEqual(['short', 'long']);
    expect(names(50)).toEqual(['long']);
    expect(names(500)).toEqual(['long']);
  });
});
