import { expect, test } from 'vitest';

import type { Run } from './api_types';
import { groupOf, meanGroupOf } from './groups';

const run = (name: string, hparams: Run['hparams'] = {}) => ({ run: name, hparams }) as Run;

test('a group is the first parts of the path, or a hyper-parameter', () => {
  expect(groupOf(run('a/b/c'), 'path:1')).toBe('a');
  expect(groupOf(run('a/b/c'), 'path:2')).toBe('a/b');
  expect(groupOf(run('a'), 'path:1')).toBe('a');
  expect(groupOf(run('a', { lr: 0.1 }), 'hparam:lr')).toBe('lr = 0.1');
});

test('a mean is never taken over training and test', () => {
  const names = ['a/0', 'a/1', 'exp/train', 'exp/test', 'exp/1/Validation', 'train', 'test', 'train/0', 'latest/0'];
  expect(names.map((name) => meanGroupOf(run(name), 'path:1'))).toEqual([
    'a', 'a', 'exp · train', 'exp · test', 'exp · Validation', 'train', 'test', 'train', 'latest',
  ]);
  expect(meanGroupOf(run('exp/test', { lr: 1 }), 'hparam:lr')).toBe('lr = 1 · test');
});
