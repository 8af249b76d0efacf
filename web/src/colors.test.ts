import { describe, expect, test } from 'vitest';

import { assignColors, hash, kPalette } from './colors';

const names = (n: number) => Array.from({ length: n }, (_, i) => `experiment/run_${i}`);

describe('colours of runs', () => {
  test('no two runs share one as long as there are enough', () => {
    for (let n = 1; n <= kPalette.length; ++n)
      expect(new Set(assignColors(names(n), new Map()).values()).size).toBe(n);
  });

  test('are used evenly if there are more runs than colours', () => {
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

  test('of the usual three are blue, amber and teal', () => {
    const given = assignColors(['test', 'train', 'validation'], new Map());
    const tones = ['train', 'test', 'validation'].map((name) => kPalette[given.get(name) ?? -1]?.dark);
    expect(tones).toEqual(['#4689fc', '#edb02b', '#02dac0']);
  });

  test('can be told from the card in both themes', () => {
    for (const { dark, light } of kPalette) {
      expect(contrast(dark, '#1a2024')).toBeGreaterThanOrEqual(3);
      expect(contrast(light, '#ffffff')).toBeGreaterThanOrEqual(3);
    }
  });

  // Distances of CIE 1976; one of 2 or 3 is just seen where two colours touch.
  test.each(['dark', 'light'] as const)('can be told from one another, also by the colour-blind: %s', (theme) => {
    for (const [sight, matrix] of Object.entries(kSights))
      kPalette.forEach((one, i) => {
        for (const other of kPalette.slice(i + 1)) {
          const distance = Math.hypot(...lab(one[theme], matrix).map((x, k) => x - (lab(other[theme], matrix)[k] ?? 0)));
          expect(distance, `${one[theme]} and ${other[theme]}, ${sight}`).toBeGreaterThan(15);
        }
      });
  });

  test('keep their hue from theme to theme', () => {
    for (const { dark, light } of kPalette) {
      const [a = 0, b = 0] = [dark, light].map((color) => {
        const [, x = 0, y = 0] = lab(color, kSights.normal);
        return (Math.atan2(y, x) * 180) / Math.PI;
      });
      expect(Math.abs(((a - b + 540) % 360) - 180), `${dark} and ${light}`).toBeLessThan(25);
    }
  });
});

// What is seen of linear red, green and blue: by most people, without the cones for red, without those for green
// (Machado, Oliveira and Fernandes 2009).
const kSights = {
  normal: [1, 0, 0, 0, 1, 0, 0, 0, 1],
  protanopia: [0.152286, 1.052583, -0.204868, 0.114503, 0.786281, 0.099216, -0.003882, -0.048116, 1.051998],
  deuteranopia: [0.367322, 0.860646, -0.227968, 0.280085, 0.672501, 0.047413, -0.01182, 0.04294, 0.968881],
};
const kToXyz = [0.4124564, 0.3575761, 0.1804375, 0.2126729, 0.7151522, 0.072175, 0.0193339, 0.119192, 0.9503041];
const kWhite = [0.95047, 1, 1.08883];

const times = (matrix: number[], [x = 0, y = 0, z = 0]: number[]) =>
  [0, 3, 6].map((row) => matrix[row]! * x + matrix[row + 1]! * y + matrix[row + 2]! * z);

function linear(color: string): number[] {
  return [1, 3, 5].map((at) => {
    const c = parseInt(color.slice(at, at + 2), 16) / 255;
    return c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
  });
}

function lab(color: string, sight: number[]): number[] {
  const seen = times(sight, linear(color)).map((c) => Math.min(1, Math.max(0, c)));
  const [x = 0, y = 0, z = 0] = times(kToXyz, seen).map((c, i) => {
    const t = c / kWhite[i]!;
    return t > 0.008856 ? Math.cbrt(t) : 7.787 * t + 16 / 116;
  });
  return [116 * y - 16, 500 * (x - y), 200 * (y - z)];
}

// As WCAG 2 defines it.
function contrast(a: string, b: string): number {
  const luminance = (color: string) => {
    const [r = 0, g = 0, blue = 0] = linear(color);
    return 0.2126 * r + 0.7152 * g + 0.0722 * blue;
  };
  const [x, y] = [luminance(a), luminance(b)];
  return (Math.max(x, y) + 0.05) / (Math.min(x, y) + 0.05);
}
