import { describe, expect, test } from 'vitest';

import type { Tag } from '../../api_types';
import { decodeTile, kHasNan, kRecorded, kSpikeUp, kTileCells } from './api';
import { differenceCells, pooledCells, worstOf } from './cells';
import { divergingAt, positionOf, rangeOf } from './colour';
import { levelOf, limited, stepAt, tilesOf, xOf } from './frame';
import { tickDistance } from './furniture';
import { marksOf } from './marks';
import { arrange, moduleOf, splitTag, tensorsOf } from './rows';
import { kStatistics, pooled, statisticOf } from './statistics';
import { blocksOf } from './tiles';

const tag = (name: string, order: number | null, runs = ['a']): Tag => ({
  tag: name,
  kind: 'statistics',
  display: '',
  description: '',
  order,
  runs,
  points: runs.map(() => 10),
  first_step: runs.map(() => 0),
  last_step: runs.map(() => 9),
  interval: runs.map(() => 1),
  written_again: runs.map(() => 0),
});

describe('rows', () => {
  test('a tag is a kind and a name', () => {
    expect(splitTag('activation/dense_1/out')).toEqual({ kind: 'activation', name: 'dense_1/out' });
    expect(splitTag('eval/gradient/k')).toEqual({ kind: 'eval/gradient', name: 'k' });
    expect(splitTag('alone')).toEqual({ kind: 'other', name: 'alone' });
  });
  test('tensors are in the order of execution, those without one at the end', () => {
    const found = tensorsOf([tag('activation/b', 2), tag('activation/z', null), tag('activation/c', 1), tag('gradient/b', 0), tag('activation/x', 0, ['other'])], ['a']);
    expect([...found.keys()]).toEqual(['activation', 'gradient']);
    expect(found.get('activation')!.map((one) => one.name)).toEqual(['c', 'b', 'z']);
  });
  test('modules are the first parts of a name', () => {
    expect(moduleOf('block_01/mlp/out', 1)).toBe('block_01');
    expect(moduleOf('layer3.0.conv1', 2)).toBe('layer3/0');
    expect(moduleOf('fc', 1)).toBe('fc');
  });
  const tensors = tensorsOf(['m/a', 'm/b', 'n/c'].map((name, i) => tag(`activation/${name}`, i)), ['a']).get('activation')!;
  const score = ({ name }: { name: string }) => ({ value: name === 'm/b' ? 5 : 1, spikes: name === 'n/c' ? 2 : 0, bad: 0 });
  test('rows are sorted by what was asked', () => {
    const order = (sort: 'order' | 'value' | 'spikes') => arrange(tensors, { sort, depth: 0, opened: [], score }).map((row) => row.label);
    expect(order('order')).toEqual(['m/a', 'm/b', 'n/c']);
    expect(order('value')).toEqual(['m/b', 'm/a', 'n/c']);
    expect(order('spikes')).toEqual(['n/c', 'm/b', 'm/a']);
  });
  test('a module of several tensors is a row, with its members if it is open', () => {
    const closed = arrange(tensors, { sort: 'order', depth: 1, opened: [], score });
    expect(closed.map((row) => [row.label, row.tensors.length])).toEqual([['m', 2], ['n/c', 1]]);
    const open = arrange(tensors, { sort: 'order', depth: 1, opened: ['m/'], score });
    expect(open.map((row) => row.label)).toEqual(['m', 'm/a', 'm/b', 'n/c']);
  });
});

describe('pooling', () => {
  test('rms is that of all elements together', () => {
    // 3 elements of rms 2 and 1 element of rms 4.
    expect(pooled('rms', [2, 4], [3, 1])).toBeCloseTo(Math.sqrt((3 * 4 + 16) / 4));
    expect(pooled('rms', [3, 4], [1, 1], true)).toBe(5); // L2 norms
    expect(pooled('mean', [1, 4], [2, 1])).toBe(2);
    expect(pooled('sum', [1, NaN, 4], [1, 1, 1])).toBe(5);
    expect(pooled('max', [1, 4], [1, 1])).toBe(4);
    expect(pooled('product', [2, 4], [1, 1])).toBe(8);
    expect(pooled('mean', [NaN], [1])).toBeNaN();
  });
  const cells = (value: number, flags: number) => ({ values: new Float32Array(kTileCells).fill(value), flags: new Uint8Array(kTileCells).fill(flags), key: '' });
  test('a bad member makes a bad module', () => {
    const made = pooledCells([cells(1, kRecorded), cells(3, kRecorded | kHasNan)], [1, 1], statisticOf('mean_abs'), false);
    expect(made.values[0]).toBe(2);
    expect(made.flags[0]).toBe(kRecorded | kHasNan);
    expect(pooledCells([cells(1, 1), cells(-8, 1)], [1, 1], statisticOf('rms'), true).values[7]).toBe(-8);
  });
  test('the worst member has NaN, then a spike, then the largest value', () => {
    expect(worstOf([{ value: 9, flags: 1 }, { value: 1, flags: kHasNan }, { value: 2, flags: kSpikeUp }])).toBe(1);
    expect(worstOf([{ value: 9, flags: 1 }, { value: 2, flags: kSpikeUp }])).toBe(1);
    expect(worstOf([{ value: -9, flags: 1 }, { value: 2, flags: 1 }])).toBe(0);
    expect(worstOf([])).toBe(-1);
  });
  test('a difference is of cells that both runs have, and marks what only one has', () => {
    expect(differenceCells(cells(2, 1), cells(8, 1), true).values[0]).toBe(2);
    expect(differenceCells(cells(2, 1), cells(8, 1), false).values[0]).toBe(6);
    expect(differenceCells(cells(0, 1), cells(0, 1), true).values[0]).toBe(0);
    expect(differenceCells(cells(2, 1), cells(2, 0), true).flags[0]).toBe(0);
    expect(differenceCells(cells(NaN, 3), cells(2, 1), true).flags[0]).toBe(3);
    expect(differenceCells(cells(NaN, 3), cells(NaN, 3), true).flags[0]).toBe(1);
  });
});

describe('the frame', () => {
  test('a cell is a pixel or more, and not smaller than what was recorded', () => {
    expect(levelOf(1000, 1000, 1)).toBe(0);
    expect(levelOf(100_000, 1000, 1)).toBe(7);
    expect(levelOf(10, 1000, 1)).toBe(0);
    expect(levelOf(1000, 1000, 20)).toBe(4);
  });
  test('steps and pixels are inverse', () => {
    const frame = { lo: 10, hi: 30, width: 200, level: 0 };
    expect(xOf(frame, 20)).toBe(100);
    expect(stepAt(frame, xOf(frame, 17))).toBeCloseTo(17);
  });
  test('the tiles cover the visible steps', () => {
    expect(tilesOf({ lo: 250, hi: 260, width: 100, level: 0 })).toEqual([0, 1]);
    expect(tilesOf({ lo: 0, hi: 256, width: 100, level: 0 })).toEqual([0]);
    expect(tilesOf({ lo: -10, hi: 5, width: 100, level: 2 })).toEqual([-1, 0]);
  });
  test('a zoom stays within the run', () => {
    expect(limited([-50, 50], [0, 100])).toEqual([0, 100]);
    expect(limited([90, 110], [0, 100])).toEqual([80, 100]);
    expect(limited([-1000, 1000], [0, 100])).toEqual([0, 100]);
    expect(limited([50, 50.1], [0, 100])).toEqual([48.05, 52.05]);
    expect(limited([0, 1], [0, 1])).toEqual([0, 1]);
  });
  test('ticks are round numbers of steps', () => {
    expect(tickDistance(1000, 10)).toBe(100);
    expect(tickDistance(1100, 10)).toBe(200);
    expect(tickDistance(3, 10)).toBe(1);
  });
});

describe('colours', () => {
  test('a logarithmic scale has decades of equal length', () => {
    const scale = { lo: 0.01, hi: 100, log: true, diverging: false };
    expect(positionOf(scale, 1)).toBeCloseTo(0.5);
    expect(positionOf(scale, 0)).toBe(0);
  });
  test('the range is the inner 98 %, and never empty', () => {
    const values = Array.from({ length: 1000 }, (_, i) => i);
    expect(rangeOf([...values, 1e9, NaN, Infinity], false, false)[1]).toBeLessThan(1000);
    expect(rangeOf([2, 2], false, false)).toEqual([1, 3]);
    expect(rangeOf([2, 2], true, false)).toEqual([1, 4]);
    expect(rangeOf([], true, false)).toEqual([0.1, 1]);
    expect(rangeOf([-3, 1], false, true)).toEqual([-3, 3]);
    expect(rangeOf([0, 0], false, true)).toEqual([-1, 1]);
  });
  test('the middle of a diverging scale recedes into the background', () => {
    const [r, g, b] = divergingAt(0.5, true);
    expect(Math.max(r, g, b)).toBeLessThan(60);
  });
});

test('a tile is values and flags', () => {
  const buffer = new ArrayBuffer(16 + 4 + 5 * kTileCells);
  const view = new DataView(buffer);
  [...'SNDT'].forEach((c, i) => view.setUint8(i, c.charCodeAt(0)));
  view.setUint32(4, 1, true);
  view.setUint32(8, 1, true);
  view.setUint32(12, kTileCells, true);
  view.setFloat32(20, 1.5, true);
  view.setUint8(20 + 4 * kTileCells, 3);
  const tile = decodeTile(buffer);
  expect(tile.values[0]).toBe(1.5);
  expect(tile.flags[0]).toBe(3);
  expect(tile.found).toEqual([true]);
  expect(() => decodeTile(buffer.slice(0, 100))).toThrow(/too short/);
});

test('names of any length fit into requests', () => {
  const tensors = tensorsOf(Array.from({ length: 300 }, (_, i) => tag(`activation/${i}${'x'.repeat(10_000)}`, i)), ['a']).get('activation')!;
  const { tags, placeOf } = blocksOf('k', tensors);
  for (const block of tags) expect(JSON.stringify(block).length).toBeLessThan(1 << 20);
  expect(placeOf.size).toBe(300);
  expect(blocksOf('k', []).tags).toEqual([]);
});

test('marks are those of the run, by step', () => {
  const alert = { kind: 'trigger' as const, run: 'a', tag: null, tag_kind: null, step: 5, time: 0, text: 't', value: null, capture: '1-x' };
  expect(marksOf([alert, { ...alert, run: 'b' }, { ...alert, kind: 'nonfinite', capture: null, step: 2 }, { ...alert, step: null }], 'a').map((one) => [one.step, one.kind])).toEqual([[2, 'bad'], [5, 'capture']]);
});

test('every statistic has its own name', () => {
  expect(new Set(kStatistics.map((one) => one.id)).size).toBe(kStatistics.length);
});
