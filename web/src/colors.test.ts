import { describe, expect, test } from 'vitest';

import { assignColors, hash, kPalette } from './colors';

const names = (n: number) => Array.from({ length: n }, (_, i) => `experiment/run_${i}`);

describe('colours of runs', () => {
  test('no two runs share one as long as there are enough', () => {
    for (let n = 1; n <= kPalette.length; ++n)
      expect(new Set(assignColors(names(n), new Map()).values()).size).toBe(n);
  });

  test('are used evenly where there are more runs than colours', () => {
    const used = new Map<number, number>();
    for (const at of assignColors(names(10 * kPalette.length), new Map()).values())
      used.set(at, (used.get(at) ?? 0) + 1);
    expect([...used.values()]).toEqual(new Array(kPalette.length).fill(10));
  });

  test('do not depend on the order of the runs', () => {
    const one = assignColors(names(30), new Map());
    const other = assignColors(names(30).reverse(), new Map());
    for (const [name, at] of one) expect(other.get(name)).toBe(at);
  });

  test('stay when runs come and go', () => {
    const before = assignColors(names(8), new Map());
    const after = assignColors([...names(8).slice(3), 'a new one', 'another'], before);
    for (const name of names(8).slice(3)) expect(after.get(name)).toBe(before.get(name));
  });

  test('a run alone has the colour of its name', () => {
    expect(assignColors(['train'], new Map()).get('train')).toBe(hash('train') % kPalette.length);
  });

  test('can be told from the card in both themes', () => {
    for (const { dark, light } of kPalette) {
      expect(contrast(dark, '#1a2024')).toBeGreaterThanOrEqual(4.5);
      expect(contrast(light, '#ffffff')).toBeGreaterThanOrEqual(4.5);
    }
  });
});

// As WCAG 2 defines it.
function contrast(a: string, b: string): number {
  const luminance = (color: string) => {
    const [r = 0, g = 0, blue = 0] = [1, 3, 5].map((at) => {
      const c = parseInt(color.slice(at, at + 2), 16) / 255;
      return c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r + 0.7152 * g + 0.0722 * blue;
  };
  const [x, y] = [luminance(a), luminance(b)];
  return (Math.max(x, y) + 0.05) / (Math.min(x, y) + 0.05);
}
