import { describe, expect, test } from 'vitest';

import { frameOf } from './draw';
import { panned, zoomed } from './gestures';
import { type Line, type Scene, fitX, fitY, kClip, nearest } from './scene';
import type { TableRow } from '../api_types';
import { questionAt, rowsOf, stepNear } from './tooltip';

const none = new Float64Array();
const counts = new Uint32Array();

function line(id: string, x: number[], y: number[]): Line {
  const xs = Float64Array.from(x);
  return {
    id,
    run: id,
    tag: 'loss',
    label: id,
    color: '#fff',
    dash: [],
    x: xs,
    y: Float64Array.from(y),
    step: xs,
    time: xs,
    rawX: null,
    rawY: null,
    bad: { x: none, step: none, time: none, nan: counts, posInf: counts, negInf: counts },
  };
}

const scene = (lines: Line[]): Scene => ({
  lines,
  bands: [],
  margins: [],
  guides: [],
  axis: 'number',
  logX: false,
  logY: false,
  x: [0, 100],
  y: [0, 10],
  clipped: [null, null],
});

describe('the nearest point', () => {
  test('is what a look at all of them says', () => {
    const xs = Float64Array.from([0, 1, 5, 6, 20]);
    for (let x = -3; x < 25; x += 0.5) {
      const plain = xs.reduce((best, one, i) => (Math.abs(one - x) < Math.abs((xs[best] ?? 0) - x) ? i : best), 0);
      expect(nearest(xs, x)).toBe(plain);
    }
    expect(nearest(none, 1)).toBe(-1);
  });
});

describe('ranges', () => {
  test('hold what is in view', () => {
    const one = scene([line('a', [0, 50, 100], [1, 9, 3])]);
    expect(fitY(one, [0, 100], false, null)).toEqual([1, 9]);
    expect(fitY(one, [60, 100], false, null)).toEqual([3, 3]);
    expect(fitX(one, false)).toEqual([0, 100]);
  });

  test('without outliers are those of the many', () => {
    const ys = Array.from({ length: 200 }, (_, i) => 1 + (i % 10) / 10);
    ys[77] = 1e6;
    const one = scene([line('a', ys.map((_, i) => i), ys)]);
    expect(fitY(one, [0, 200], false, null)[1]).toBe(1e6);
    expect(fitY(one, [0, 200], false, kClip)[1]).toBeLessThan(3);
  });

  test('that are clipped by default leave out only what makes the rest flat', () => {
    const range = (ys: number[], log = false) => fitY(scene([line('a', ys.map((_, i) => i), ys)]), [0, 200], log, kClip);
    const falling = Array.from({ length: 200 }, (_, i) => 0.1 + 2 * Math.exp(-i / 40));
    expect(range(falling)).toEqual([falling[199], falling[0]]);
    for (const at of [0, 77, 199]) {
      expect(range(falling.with(at, 50))[1]).toBeLessThan(3);
    }
    expect(range([1, 50, 1, 2])).toEqual([1, 50]);
  });

  test('of a logarithmic axis leave out what it cannot show', () => {
    const one = scene([line('a', [0, 1, 10], [-1, 0, 5])]);
    expect(fitY(one, [0, 10], true, null)).toEqual([5, 5]);
    expect(fitX(one, true)[0]).toBe(1);
    const late = line('b', [0, 20, 40], [1, 1, 1]);
    for (const lines of [[...one.lines, late], [late, ...one.lines]]) expect(fitX(scene(lines), true)).toEqual([1, 40]);
    expect(fitX(scene([line('c', [0], [1])]), true)[0]).toBe(Infinity);
  });
});

describe('what the pointer says', () => {
  const one = scene([line('b', [0, 50], [1, 2]), line('a', [0, 50], [5, 6]), line('c', [0], [9])]);
  const frame = frameOf(one, 800, 300);

  const lines = one.lines;
  const answer = (step: number, values: Record<string, number | 'NaN' | '-Infinity'>, steps: Record<string, number> = {}) =>
    Object.entries(values).map(([run, value]) => ({ run, tag: 'loss', count: 1, step: steps[run] ?? step, value, smoothed: value, time: 0, relative: 0 }) as unknown as TableRow);
  const ask = (x: number, smooth = 0) => questionAt(one, frame, x, { lines, groups: [] }, undefined, smooth);
  const rowsAt = (x: number, py: number, sort: 'value' | 'name' | 'nearest', rows: TableRow[]) =>
    rowsOf(one, frame, { x, py }, { lines, groups: [] }, ask(x), rows, sort);

  test('is about a step that was recorded', () => {
    expect(ask(49)?.step).toBe(50);
    expect(ask(20)?.step).toBe(0);
    expect(ask(49)?.series).toEqual([
      { run: 'b', tag: 'loss' },
      { run: 'a', tag: 'loss' },
      { run: 'c', tag: 'loss' },
    ]);
    const dense = line('d', Array.from({ length: 1000 }, (_, i) => i), Array.from({ length: 1000 }, () => 1));
    const both = { ...scene([dense, line('e', [0, 500], [1, 1])]), x: [0, 999] as [number, number] };
    const wide = frameOf(both, 800, 300);
    expect(stepNear(both, wide, 498)).toBe(500); // which the line with few points has, too
    expect(stepNear(both, wide, 480)).toBe(480);
  });

  test('is sorted as wanted, and what is far away comes last', () => {
    const at50 = answer(50, { a: 6, b: 2, c: 9 }, { c: 0 });
    const at0 = answer(0, { a: 5, b: 1, c: 9 });
    const ids = ({ rows }: { rows: { id: string }[] }) => rows.map((row) => row.id);
    expect(ids(rowsAt(50, 0, 'value', at50))).toEqual(['a', 'b', 'c']);
    expect(ids(rowsAt(0, 0, 'value', at0))).toEqual(['c', 'a', 'b']);
    expect(ids(rowsAt(0, 0, 'name', at0))).toEqual(['a', 'b', 'c']);
    expect(ids(rowsAt(50, frame.bottom, 'nearest', at50))).toEqual(['b', 'a', 'c']);
    const { rows, step } = rowsAt(50, 0, 'value', at50);
    expect(step).toBe(50);
    expect(rows[2]).toMatchObject({ id: 'c', far: true, steps: [0, 0] }); // its last step, which the row names
  });

  test('is NaN if that is what was recorded', () => {
    const { rows } = rowsAt(50, 0, 'value', answer(50, { a: 6, b: 'NaN', c: '-Infinity' }));
    expect(rows.map((row) => [row.id, row.value, row.smoothed])).toEqual([
      ['b', NaN, null],
      ['a', 6, null],
      ['c', -Infinity, null],
    ]);
  });

  test('names the step before where none was recorded at the one that is asked for', () => {
    const { rows, step } = rowsAt(50, 0, 'value', answer(45, { a: 6, b: 2, c: 9 }));
    expect(step).toBe(45);
    expect(rows.map((row) => row.steps)).toEqual([[45, 45], [45, 45], [45, 45]]);
  });

  test('is about a step of each line if the axis is time', () => {
    const timed = { ...one, axis: 'wall' as const, lines: [{ ...line('a', [10, 20], [1, 2]), step: Float64Array.of(5, 6) }] };
    const asked = questionAt(timed, frame, 19, { lines: timed.lines, groups: [] }, 4, 0.6);
    expect(asked?.step).toBeNull();
    expect(asked?.series).toEqual([{ run: 'a', tag: 'loss', step: 6, interval: 4 }]);
  });

  test('and does: zooming keeps what is under it, panning keeps the width', () => {
    const [lo, hi] = zoomed(frame, frame.left, 0.5);
    expect([lo, hi].map((x) => Math.round(x))).toEqual([0, 50]);
    const [from, to] = panned(frame, (frame.right - frame.left) / 2);
    expect([from, to].map((x) => Math.round(x))).toEqual([50, 150]);
  });
});
