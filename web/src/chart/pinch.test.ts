import { describe, expect, test } from 'vitest';

import { Pinch } from './pinch';
import type { Frame } from './scale';

const frame: Frame = {
  left: 0,
  top: 0,
  right: 1000,
  bottom: 100,
  x: { lo: 0, hi: 1000, log: false, from: 0, to: 1000 },
  y: { lo: 0, hi: 1, log: false, from: 100, to: 0 },
};

describe('two fingers', () => {
  test('that part zoom in around the place between them', () => {
    const pinch = new Pinch();
    pinch.down(1, [400, 50], frame);
    pinch.down(2, [600, 50], frame);
    pinch.move(1, [300, 50]);
    expect(pinch.move(2, [700, 50])).toEqual([250, 750]);
    expect(pinch.move(2, [500, 50])).toEqual([100, 1100]); // as far apart as at first, 100 to the left
  });

  test('are no clicks, however they leave', () => {
    const pinch = new Pinch();
    pinch.down(1, [400, 50], frame);
    pinch.down(2, [600, 50], frame);
    expect(pinch.up(2)).toBe(false);
    expect(pinch.move(1, [10, 10])).toBe(null);
    expect(pinch.up(1)).toBe(false);
    pinch.down(1, [400, 50], frame);
    expect(pinch.move(1, [402, 50])).toBe(null);
    expect(pinch.up(1)).toBe(true);
  });

  test('on one place zoom by no more than they can', () => {
    const pinch = new Pinch();
    pinch.down(1, [500, 50], frame);
    pinch.down(2, [500, 50], frame);
    const [lo, hi] = pinch.move(2, [500, 58]) ?? [NaN, NaN];
    expect([lo, hi]).toEqual([0, 1000]);
  });
});
