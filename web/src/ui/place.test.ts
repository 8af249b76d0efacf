import { describe, expect, test } from 'vitest';

import { placed } from './place';

const within = { top: 44, bottom: 752, left: 264, right: 1280 };
const button = (top: number, left: number) => ({ top, bottom: top + 24, left, right: left + 24 });
const below = (of: { bottom: number; right: number }, width: number, height: number) => ({
  top: of.bottom + 4,
  bottom: of.bottom + 4 + height,
  left: of.right - width,
  right: of.right,
});

describe('a menu', () => {
  test('opens downwards if there is room', () => {
    const at = button(100, 800);
    expect(placed(below(at, 200, 300), at, within)).toEqual({ up: false, height: null, shift: 0 });
  });

  test('opens upwards if there is more of it', () => {
    const at = button(600, 800);
    expect(placed(below(at, 200, 300), at, within)).toEqual({ up: true, height: null, shift: 0 });
  });

  test('is no taller than the room that it has', () => {
    const at = button(300, 800);
    expect(placed(below(at, 200, 600), at, within)).toEqual({ up: false, height: 420, shift: 0 });
    const low = button(600, 800);
    expect(placed(below(low, 200, 700), low, within)).toEqual({ up: true, height: 548, shift: 0 });
  });

  test('stays between left and right', () => {
    const at = button(100, 300);
    expect(placed(below(at, 200, 100), at, within).shift).toBe(144);
    const far = { ...below(at, 200, 100), left: 1200, right: 1400 };
    expect(placed(far, at, within).shift).toBe(-124);
  });
});
