import { describe, expect, test } from 'vitest';

import * as format from './format';

describe('numbers', () => {
  test('have three to four significant digits', () => {
    const cases: [number, string][] = [
      [0, '0'], [1, '1'], [0.0412, '0.0412'], [0.98123, '0.9812'], [1.73, '1.73'], [12.3456, '12.35'], [123.456, '123.5'],
      [1204.4, '1,204'], [62113, '62,113'], [1234567, '1,234,567'], [3.1e-7, '3.1e\u22127'], [6.022e23, '6.022e23'],
      [-0.5, '\u22120.5'], [-1204, '\u22121,204'], [NaN, 'NaN'], [Infinity, 'Inf'], [-Infinity, '\u2212Inf'], [0.001, '0.001'],
    ];
    for (const [x, text] of cases) expect(format.value(x)).toBe(text);
    expect(format.value(null)).toBe('');
  });

  test('on axes are short', () => {
    const cases: [number, string][] = [
      [0, '0'], [500, '500'], [1000, '1k'], [20000, '20k'], [1500000, '1.5M'], [0.25, '0.25'], [0.0001, '1e\u22124'],
      [-2000, '\u22122k'], [2e9, '2G'], [1e20, '1e20'],
    ];
    for (const [x, text] of cases) expect(format.short(x)).toBe(text);
  });

  test('of time say what one would say', () => {
    expect(format.duration(0.041)).toBe('41 ms');
    expect(format.duration(41)).toBe('41 s');
    expect(format.duration(200)).toBe('3 m 20 s');
    expect(format.duration(7500)).toBe('2 h 5 m');
    expect(format.duration(86400 * 3 + 3600 * 4)).toBe('3 d 4 h');
    expect(format.ago(100, 100.5)).toBe('now');
    expect(format.ago(100, 141.3)).toBe('41 s ago');
    expect(format.ago(0, 3 * 86400)).toBe('3 d ago');
    expect(format.ago(1e9, 1.1e9)).toBe(format.time(1e9).slice(0, 10));
  });

  test('of bytes and things', () => {
    expect(format.bytes(512)).toBe('512 B');
    expect(format.bytes(1536)).toBe('1.5 KiB');
    expect(format.plural(1, 'run')).toBe('1 run');
    expect(format.plural(1204, 'run')).toBe('1,204 runs');
  });
});

describe('names', () => {
  test('are shortened in the middle, middles, to what there is room for', () => {
    expect(format.middle('short', 10)).toBe('short');
    expect(format.middle('abcdefghij', 5)).toBe('ab…ij');
    for (let most = 1; most < 12; ++most) expect(format.middle('abcdefghijkl', most)).toHaveLength(most);
  });
});

describe('shortened names', () => {
  test('stay different', () => {
    const names = ['a-long-name-of-a-run/lr-1e-3/seed-1', 'a-long-name-of-a-run/lr-3e-4/seed-1', 'b'];
    expect(new Set(format.middles(names, 12)).size).toBe(3);
    expect(format.middles(['abcdefghij', 'abcdefghij', 'x'], 5)).toEqual(['ab…ij', 'ab…ij', 'x']);
  });
});
