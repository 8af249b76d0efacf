import { describe, expect, test } from 'vitest';

import type { Run } from '../api_types';
import { deepest, groupOf, hparamNames } from '../groups';
import { rowsOf } from './tree';

const run = (name: string, hparams: Run['hparams'] = {}): Run => ({
  run: name,
  revision: 1,
  state: 'finished',
  read: true,
  started: 0,
  last_time: 0,
  first_step: 0,
  last_step: 1,
  steps_per_second: null,
  points: 1,
  damaged: 0,
  dropped: 0,
  hparams,
  metrics: [],
  note: '',
  first_bad_step: null,
});
const shown = (runs: Run[], by: string, closed: string[] = []) =>
  rowsOf(runs, by, new Set(closed)).map((row) => `${'  '.repeat(row.depth)}${row.label}${row.type === 'folder' ? '/' : ''}`);

describe('the runs panel', () => {
  const runs = ['a/train', 'a/test', 'b/c/d/train', 'b/c/d/test', 'alone', 'x/only'].map((name) => run(name));

  test('is a tree by path: chains of folders are one, and a single run has none', () => {
    expect(shown(runs, 'tree')).toEqual(['a/', '  train', '  test', 'b/c/d/', '  train', '  test', 'x/only', 'alone']);
  });

  test('a folder within a folder for a single run is no row either', () => {
    const deep = ['e/resnet/lr-1/s1', 'e/resnet/lr-2/s1', 'e/resnet/lr-2/s2', 'e/vit/adam/s1'].map((name) => run(name));
    expect(shown(deep, 'tree')).toEqual(['e/', '  resnet/', '    lr-1/s1', '    lr-2/', '      s1', '      s2', '  vit/adam/s1']);
  });

  test('folds', () => {
    expect(shown(runs, 'tree', ['a', 'b/c/d'])).toEqual(['a/', 'b/c/d/', 'x/only', 'alone']);
  });

  test('a folder knows all runs below it', () => {
    const [folder] = rowsOf(runs.slice(2, 4), 'tree', new Set());
    expect(folder?.type === 'folder' && folder.runs).toEqual(['b/c/d/train', 'b/c/d/test']);
  });

  test('is flat, or in groups by the first parts of the path', () => {
    expect(shown(runs, 'none')).toHaveLength(6);
    expect(shown(runs, 'path:2')).toContain('b/c/');
    expect(shown(runs, 'path:1').slice(0, 3)).toEqual(['a/', '  train', '  test']);
  });

  test('or by a hyper-parameter', () => {
    const tuned = [run('a', { lr: 0.1 }), run('b', { lr: 0.01 }), run('c', { lr: 0.1 }), run('d')];
    expect(shown(tuned, 'hparam:lr')).toEqual(['lr = 0.1/', '  a', '  c', 'lr = 0.01/', '  b', 'without lr/', '  d']);
  });
});

describe('groups', () => {
  test('never take the name of the run itself for a group, unless it is the only one', () => {
    expect(groupOf(run('a/b/c'), 'path:1')).toBe('a');
    expect(groupOf(run('a/b/c'), 'path:9')).toBe('a/b');
    expect(groupOf(run('a'), 'path:1')).toBe('a');
  });

  test('offer what differs first', () => {
    const all = [run('a', { seed: 1, adam: true, lr: 1 }), run('b', { seed: 2, adam: true, lr: 1 })];
    expect(hparamNames(all)).toEqual(['seed', 'adam', 'lr']);
    expect(deepest([run('a/b/c'), run('d')])).toBe(2);
  });
});
