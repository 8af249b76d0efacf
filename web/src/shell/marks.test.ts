import { describe, expect, test } from 'vitest';

import type { Alert } from '../api_types';
import { marksOf, merged } from './marks';

const alert = (kind: Alert['kind'], run: string, step: number | null, value: Alert['value'] = null): Alert => ({
  kind,
  run,
  tag: null,
  tag_kind: null,
  step,
  time: null,
  text: `${kind} at ${step}`,
  value,
  capture: null,
});

describe('marks on the step bar', () => {
  const all = [alert('nonfinite', 'a', 5, 'NaN'), alert('nonfinite', 'a', 7, '-Infinity'), alert('trigger', 'b', 9), alert('died', 'a', null)];

  test('are the alerts of visible runs that have a step', () => {
    expect(marksOf(all, new Set(['a', 'b'])).map(({ step, look, name }) => [step, look, name])).toEqual([
      [5, 'nan', 'NaN'],
      [7, 'inf', 'Inf'],
      [9, 'other', 'capture'],
    ]);
    expect(marksOf(all, new Set(['b']))).toHaveLength(1);
  });

  test('that would overlap are one, named by the worst', () => {
    const found = marksOf(all, new Set(['a', 'b'])).reverse();
    const [only, ...more] = merged(found, () => 100);
    expect(more).toEqual([]);
    expect([only?.name, only?.step, only?.count]).toEqual(['NaN', 5, 3]);
    expect(merged(marksOf(all, new Set(['a', 'b'])), (step) => 100 * step)).toHaveLength(3);
  });
});
