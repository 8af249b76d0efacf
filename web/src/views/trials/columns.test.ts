import { expect, it } from 'vitest';

import type { Run, TableRow, Tag } from '../../api_types';
import { type Column, hparamColumn, hparamsOf, metricColumn, sortedBy, statOf, trialsOf } from './columns';

const run = (name: string, hparams: Run['hparams']): Run => ({
  run: name, revision: 1, state: 'finished', read: true, started: 0, last_time: 0, first_step: 0, last_step: 1, steps_per_second: null,
  points: 1, damaged: 0, dropped: 0, hparams, metrics: [], note: '', first_bad_step: null,
});
const tag = (name: string, runs: string[]): Tag => ({
  tag: name, kind: 'scalars', display: '', description: '', runs, points: [], first_step: [], last_step: [], interval: [], written_again: [],
});
const row = (count: number, last: number, min: number, max: number): TableRow => ({ run: '', tag: '', count, last, min, max }) as TableRow;

it('trials are runs with hyper-parameters; one that only hands them down is none', () => {
  const runs = [run('a', { lr: 1 }), run('a/train', { lr: 1 }), run('a/test', { lr: 1 }), run('b', { lr: 2 }), run('c', {})];
  expect(trialsOf(runs, [tag('loss', ['a/train', 'a/test', 'c'])]).map((one) => one.run)).toEqual(['a/train', 'a/test', 'b']);
  expect(trialsOf([run('.', { lr: 1 }), run('x', { lr: 1 })], [tag('loss', ['x'])]).map((one) => one.run)).toEqual(['x']);
});

it('a hyper-parameter is a number only if it is one in all trials', () => {
  const trials = [run('a', { lr: 0.1, opt: 'adam', x: 1, on: true }), run('b', { lr: 0.2, x: 'auto' })];
  expect(hparamColumn('lr', trials)).toMatchObject({ id: 'h:lr', text: false, cells: [0.1, 0.2] });
  expect(hparamColumn('opt', trials)).toMatchObject({ text: true, cells: ['adam', null] });
  expect(hparamColumn('x', trials)).toMatchObject({ text: true, cells: ['1', 'auto'] });
  expect(hparamColumn('on', trials).cells).toEqual(['true', null]);
});

it('hyper-parameters that differ are told from those that do not', () => {
  const trials = [run('a', { lr: 1, seed: 2, opt: 'x' }), run('b', { lr: 2, seed: 2 })];
  expect(hparamsOf(trials)).toEqual({ all: ['lr', 'opt', 'seed'], differing: ['lr', 'opt'] });
});

it('the best of a loss is the smallest, of an accuracy the largest, of anything else the last', () => {
  const one = row(3, 2, 1, 5);
  expect(['loss', 'accuracy', 'lr'].map((name) => statOf(one, name, 'best'))).toEqual([1, 5, 2]);
  expect(['loss', 'accuracy', 'lr'].map((name) => statOf(one, name, 'last'))).toEqual([2, 2, 2]);
  expect(statOf(row(0, 1, 1, 1), 'loss', 'last')).toBeNull();
  expect(metricColumn('loss', [run('a', {}), run('b', {})], (name) => (name === 'a' ? one : undefined), 'last').cells).toEqual([2, null]);
});

it('missing values and NaN come last, whichever way it is sorted', () => {
  const cells: Column['cells'] = [3, null, 1, NaN, 2, Infinity];
  const column: Column = { id: 'm:x', name: 'x', metric: true, text: false, cells };
  const names = cells.map(String);
  expect([...sortedBy(column, names, false)]).toEqual([2, 4, 0, 5, 1, 3]);
  expect([...sortedBy(column, names, true)]).toEqual([5, 0, 4, 2, 1, 3]);
  expect([...sortedBy(undefined, names, true)]).toEqual([5, 4, 3, 2, 1, 0]);
});

it('texts are sorted as people do', () => {
  const column: Column = { id: 'h:x', name: 'x', metric: false, text: true, cells: ['b10', 'b9', null, 'a'] };
  expect([...sortedBy(column, ['', '', '', ''], false)]).toEqual([3, 1, 0, 2]);
});
