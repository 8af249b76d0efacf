import { describe, expect, test } from 'vitest';

import type { Painter } from './painter';
import type { Frame } from './scale';
import { trace } from './trace';

const frame: Frame = {
  left: 0,
  top: 0,
  right: 100,
  bottom: 100,
  x: { lo: 0, hi: 100, log: false, from: 0, to: 100 },
  y: { lo: 0, hi: 100, log: false, from: 100, to: 0 },
};

// Remembers what it was told.
function spy() {
  const rects: { x: number; y: number; h: number }[] = [];
  const moves: number[] = [];
  const lines: [number, number][] = [];
  let strokes = 0;
  const painter = {
    beginPath: () => undefined,
    moveTo: (x: number) => void moves.push(x),
    lineTo: (x: number, y: number) => void lines.push([x, y]),
    stroke: () => void ++strokes,
    fillRect: (x: number, y: number, _w: number, h: number) => void rects.push({ x, y, h }),
  } as unknown as Painter;
  return { painter, rects, moves, lines, strokes: () => strokes };
}

const many = (n: number, y: (i: number) => number) => ({
  x: Float64Array.from({ length: n }, (_, i) => (100 * i) / n),
  y: Float64Array.from({ length: n }, (_, i) => y(i)),
});

describe('a line', () => {
  test('of few points goes through each of them', () => {
    const seen = spy();
    trace(seen.painter, frame, Float64Array.of(0, 50, 100), Float64Array.of(0, 100, 50), 1);
    expect(seen.moves).toEqual([0]);
    expect(seen.lines).toEqual([
      [50, 0],
      [100, 50],
    ]);
  });

  test('is interrupted where a value cannot be drawn', () => {
    const seen = spy();
    trace(seen.painter, frame, Float64Array.of(0, 25, 50, 75), Float64Array.of(1, NaN, 3, 4), 1);
    expect(seen.moves).toEqual([0, 50]);
    expect(seen.lines).toHaveLength(1);
  });

  test('of very many jagged points fills each column from its lowest to its highest one', () => {
    const seen = spy();
    const { x, y } = many(1000, (i) => (i % 10 === 3 ? 90 : i % 10 === 7 ? 10 : 50));
    trace(seen.painter, frame, x, y, 0);
    expect(seen.rects).toHaveLength(100);
    for (const { y: top, h } of seen.rects) {
      expect(top).toBeCloseTo(10);
      expect(top + h).toBeCloseTo(90);
    }
  });

  test('has no gap between columns', () => {
    const seen = spy();
    // Whole columns high and low in turn: each begins where the one before it ended.
    const { x, y } = many(1000, (i) => (Math.floor(i / 10) % 2 === 0 ? (i % 2 ? 80 : 95) : i % 2 ? 5 : 20));
    trace(seen.painter, frame, x, y, 0);
    seen.rects.slice(1).forEach((rect, i) => {
      const before = seen.rects[i] as (typeof seen.rects)[0];
      expect(rect.y).toBeLessThanOrEqual(before.y + before.h);
      expect(rect.y + rect.h).toBeGreaterThanOrEqual(before.y);
    });
  });

  test('of very many points that is smooth stays one, in pieces', () => {
    const seen = spy();
    const { x, y } = many(1000, (i) => i / 10);
    trace(seen.painter, frame, x, y, 1);
    expect(seen.rects).toHaveLength(0);
    expect(seen.lines).toHaveLength(999);
    expect(seen.strokes()).toBeGreaterThan(5);
  });
});
