import { describe, expect, test } from 'vitest';

import { frameOf } from './draw';
import { panned, zoomed } from './gestures';
import { type Line, type Scene, fitX, fitY, kClip, kClipFew, nearest } from './scene';
import { rowsAt } from './tooltip';

const none = new Float64Array();
const counts = new Uint32Array();

function line(id: string, x: number[], y: number[]): Line {
  const xs = Float64Array.from(x);
  return {
    id,
    run: id,
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

  test('that nobody asked to clip leave out only what makes the rest flat', () => {
    const range = (ys: number[], log = false) => fitY(scene([line('a', ys.map((_, i) => i), ys)]), [0, 200], log, kClipFew);
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

  test('is sorted as wanted, and what is far away comes last', () => {
    expect(rowsAt(one, frame, 50, 0, 'value').map((row) => row.id)).toEqual(['a', 'b', 'c']);
    expect(rowsAt(one, frame, 0, 0, 'value').map((row) => row.id)).toEqual(['c', 'a', 'b']);
    expect(rowsAt(one, frame, 0, 0, 'name').map((row) => row.id)).toEqual(['a', 'b', 'c']);
    expect(rowsAt(one, frame, 50, frame.bottom, 'nearest').map((row) => row.id)).toEqual(['b', 'a', 'c']);
    expect(rowsAt(one, frame, 50, 0, 'value')[2]?.far).toBe(true);
  });

  test('is NaN where that is what was recorded', () => {
    const at = Float64Array.from([60, 70]);
    const bad = { x: at, step: at, time: at, nan: Uint32Array.of(1, 0), posInf: Uint32Array.of(0, 0), negInf: Uint32Array.of(0, 2) };
    const broken = scene([line('a', [0, 60], [5, 6]), { ...line('b', [0, 50], [1, 2]), bad }]);
    const rows = rowsAt(broken, frame, 59, 0, 'value');
    expect(rows.map((row) => [row.id, row.value, row.step, row.far])).toEqual([
      ['b', NaN, 60, false],
      ['a', 6, 60, false],
    ]);
    expect(rowsAt(broken, frame, 70, 0, 'name')[0]?.value).toBe(-Infinity);
    expect(rowsAt(broken, frame, 50, 0, 'name')[0]?.value).toBe(2);
  });

  test('and does: zooming keeps what is under it, panning keeps the width', () => {
    const [lo, hi] = zoomed(frame, frame.left, 0.5);
    expect([lo, hi].map((x) => Math.round(x))).toEqual([0, 50]);
    const [from, to] = panned(frame, (frame.right - frame.left) / 2);
    expect([from, to].map((x) => Math.round(x))).toEqual([50, 150]);
  });
});
