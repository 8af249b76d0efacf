import { describe, expect, test } from 'vitest';

import { type Scale, linearTicks, logTicks, padded, sane, tickText, ticksOf, toPixel, toValue } from './scale';

const scale = (lo: number, hi: number, log = false): Scale => ({ lo, hi, log, from: 50, to: 650 });

describe('scales', () => {
  test('go to pixels and back', () => {
    for (const one of [scale(0, 10), scale(-5, 5), scale(1e-3, 1e3, true), { ...scale(0, 1), from: 300, to: 10 }]) {
      expect(toPixel(one, one.lo)).toBeCloseTo(one.from);
      expect(toPixel(one, one.hi)).toBeCloseTo(one.to);
      for (const pixel of [60, 123, 299]) expect(toPixel(one, toValue(one, pixel))).toBeCloseTo(pixel);
    }
    expect(toPixel(scale(1, 100, true), 10)).toBeCloseTo(350);
  });

  test('can be drawn with any data', () => {
    const ends: [number, number][] = [[NaN, 1], [Infinity, -Infinity], [3, 3], [0, 0], [-2, -2], [5, 1], [0, 10], [-3, -1]];
    for (const [lo, hi] of ends)
      for (const log of [false, true]) {
        const [a, b] = sane(lo, hi, log);
        expect(a).toBeLessThan(b);
        if (log) expect(a).toBeGreaterThan(0);
      }
  });

  test('leave room, but do not show less than nothing if there is none', () => {
    expect(padded(0, 1, false)[0]).toBe(0);
    expect(padded(0.01, 1, false)[0]).toBe(0);
    expect(padded(-1, 0, false)[1]).toBe(0);
    expect(padded(5, 6, false)[0]).toBeLessThan(5);
  });
});

describe('ticks', () => {
  test('are round, inside and not too many', () => {
    for (const [lo, hi] of [[0, 1], [0, 62113], [-3.7, 12.1], [0.97, 0.981], [1e-9, 3e-9], [58200, 58210]] as const)
      for (const most of [2, 5, 10]) {
        const ticks = linearTicks(lo, hi, most);
        expect(ticks.length).toBeLessThanOrEqual(most + 1);
        for (const tick of ticks) {
          expect(tick).toBeGreaterThanOrEqual(lo - 1e-12);
          expect(tick).toBeLessThanOrEqual(hi + 1e-9 * Math.abs(hi));
        }
      }
    expect(linearTicks(0, 1, 5)).toEqual([0, 0.2, 0.4, 0.6, 0.8, 1]);
    expect(linearTicks(0, 60000, 3)).toEqual([0, 20000, 40000, 60000]);
  });

  test('that are neighbours read differently', () => {
    for (const [lo, hi] of [[0.97, 0.981], [0, 62113], [1e-9, 3e-9], [58200, 58210]] as const) {
      const texts = linearTicks(lo, hi, 6).map((tick) => tickText(tick, 'number', hi - lo));
      expect(new Set(texts).size).toBe(texts.length);
    }
  });

  test('of a logarithmic axis are powers of ten if there are some', () => {
    expect(logTicks(1, 1000, 5)).toEqual([1, 10, 100, 1000]);
    expect(logTicks(2, 5, 5).length).toBeGreaterThan(1);
    expect(logTicks(1e-12, 1e12, 6).length).toBeLessThanOrEqual(7);
  });

  test('of time are hours, minutes and seconds', () => {
    expect(ticksOf(scale(0, 3600), 'relative', 4)).toEqual([0, 900, 1800, 2700, 3600]);
    expect(ticksOf(scale(0, 9), 'relative', 5)).toEqual([0, 2, 4, 6, 8]);
    expect(tickText(900, 'relative', 3600)).toBe('15 m');
    expect(tickText(1763203000, 'wall', 3600)).toMatch(/^\d\d:\d\d$/);
  });
});

test('times within a few seconds are told apart', () => {
  const texts = [0, 0.5, 1].map((more) => tickText(1_700_000_059.5 + more, 'wall', 3));
  expect(new Set(texts).size).toBe(3);
  expect(texts[0]).toMatch(/^\d\d:\d\d\.5$/);
  expect(tickText(1_700_000_059.5, 'wall', 60)).toMatch(/^\d\d:\d\d:\d\d$/);
});
