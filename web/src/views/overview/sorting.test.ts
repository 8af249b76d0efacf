import { describe, expect, test } from 'vitest';

import type { Run } from '../../api_types';
import { sorted } from './sorting';

const run = (name: string, more: Partial<Run> = {}): Run => ({
  run: name,
  revision: 1,
  state: 'finished',
  read: true,
  started: 0,
  last_time: 0,
  first_step: 0,
  last_step: 0,
  steps_per_second: null,
  points: 0,
  damaged: 0,
  dropped: 0,
  hparams: {},
  metrics: [],
  note: '',
  first_bad_step: null,
  ...more,
});

const none = () => null;
const names = (runs: readonly Run[]) => runs.map((one) => one.run);

describe('the runs table', () => {
  const runs = [
    run('b', { last_step: 20, hparams: { lr: 0.1 } }),
    run('c', { last_step: 3, hparams: { lr: 0.01 }, first_bad_step: 2 }),
    run('a', { last_step: null, note: 'first' }),
  ];

  test('is in the order of the list until a heading is clicked', () => {
    expect(names(sorted(runs, '', none))).toEqual(['b', 'c', 'a']);
    expect(names(sorted(runs, 'run', none))).toEqual(['a', 'b', 'c']);
    expect(names(sorted(runs, '-run', none))).toEqual(['c', 'b', 'a']);
  });

  test('is sorted by numbers, with what has none at the end', () => {
    expect(names(sorted(runs, 'step', none))).toEqual(['c', 'b', 'a']);
    expect(names(sorted(runs, '-step', none))).toEqual(['b', 'c', 'a']);
    expect(names(sorted(runs, 'h:lr', none))).toEqual(['c', 'b', 'a']);
    expect(names(sorted(runs, 'h:toString', none))).toEqual(['b', 'c', 'a']);
  });

  test('is sorted by the last value of a metric, NaN at the end', () => {
    const values = new Map([
      ['a', 2],
      ['b', NaN],
      ['c', -1],
    ]);
    const metric = (name: string, tag: string) => (tag === 'loss' ? (values.get(name) ?? null) : null);
    expect(names(sorted(runs, 'm:loss', metric))).toEqual(['c', 'a', 'b']);
    expect(names(sorted(runs, '-m:loss', metric))).toEqual(['a', 'c', 'b']);
  });

  test('has what is wrong first, by state, and notes before none', () => {
    expect(names(sorted(runs, 'state', none))).toEqual(['c', 'b', 'a']);
    expect(names(sorted(runs, 'note', none))).toEqual(['a', 'b', 'c']);
  });
});
