import { describe, expect, test } from 'vitest';

import { compile } from './pattern';

// The browser's own expressions are the oracle where both know the language.
const kPatterns = [
  'a', '^a', 'a$', '^a$', 'ab*c', 'ab+c', 'ab?c', 'a|b|cd', '(ab)+', '(?:ab|c)*d', '[abc]+x', '[^abc]x', '[a-c0-3]_',
  'a.c', '\\d+', '\\w\\W\\w', '\\s', '\\bin\\b', 'x\\Bin', 'a{2}', 'a{2,}', 'a{1,3}b', '^(a|b)*$', '\\.', 'a\\/b', '(a*)*b',
  '(a|aa)+$', '^$', '()', 'loss/(train|test)', 'l[0-9]+/w', '(?<name>a)b', '\\x61', '[\\d_]+z', '[\\]x]', 'a??b', '^(?:)*a',
];
const kTexts = [
  '', 'a', 'b', 'ab', 'abc', 'aab', 'aaab', 'cab', 'cd', 'abababd', 'cx', 'dx', '0_', 'a/b', 'a c', 'a\nc', 'in', 'x in y',
  'xin', 'train', 'loss/train', 'loss/test', 'l12/w', 'a.b', '12', 'a-b', ']', '_1z', 'aaaa', 'acd',
];

describe('patterns', () => {
  test('mean what regular expressions mean', () => {
    for (const pattern of kPatterns) {
      const ours = compile(pattern);
      expect(ours.error, pattern).toBeNull();
      const oracle = new RegExp(pattern);
      for (const text of kTexts) expect(ours.test(text), `${pattern} on "${text}"`).toBe(oracle.test(text));
    }
  });

  test('take time in proportion to the text', () => {
    const evil = compile('(a+)+$|(a|a)*!|(.*)*x');
    expect(evil.test(`${'a'.repeat(20_000)}b`)).toBe(false);
  });

  test('in lower case match either case; a capital letter, only itself', () => {
    expect(compile('loss').test('Train/Loss')).toBe(true);
    expect(compile('l.ss').test('Train/Loss')).toBe(true);
    expect(compile('Loss').test('train/loss')).toBe(false);
    expect(compile('L.ss').test('train/loss')).toBe(false);
    expect(compile('(?i)LOSS').test('train/loss')).toBe(true);
    expect(compile('\\D+').test('Abc')).toBe(true);
  });

  test('that are none are taken as text, with a word about why', () => {
    for (const pattern of ['(', ')', '[', 'a**b(', '*a', '\\', '[z-a]', 'a{9999}', '\\p{L}', '(?=a)', '(?<!a)b']) {
      const { error, test: matches } = compile(pattern);
      expect(error, pattern).not.toBeNull();
      expect(matches(`before ${pattern} after`.toLowerCase()) || matches(`before ${pattern} after`)).toBe(true);
      expect(matches('something else')).toBe(false);
    }
  });

  test('cannot grow without end', () => {
    expect(compile('((((a{1000}){1000}){1000}){1000})').error).toMatch(/too large/);
    expect(compile('('.repeat(1000)).error).not.toBeNull();
  });

  test('that are empty match everything', () => {
    expect(compile('').test('anything')).toBe(true);
  });
});
