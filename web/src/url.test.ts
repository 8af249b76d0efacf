import { describe, expect, test } from 'vitest';

import { everything, isSelected, selectionCodec, solo, toggled } from './selection';
import { flag, json, list, number, numberIn, oneOf, optional, parseFragment, writeFragment } from './url';

describe('the state in the address', () => {
  test('is written and read back', () => {
    const values = new Map([
      ['runs', '^a+(b|c) & "d"=?#%'],
      ['pin', 'metrics:loss/train,x'],
      ['empty', ''],
      ['name', 'Größe 网络'],
    ]);
    const fragment = writeFragment('metrics', values);
    expect(fragment.startsWith('#/metrics?')).toBe(true);
    const read = parseFragment(fragment);
    expect(read.view).toBe('metrics');
    expect(new Map(read.values)).toEqual(values);
  });

  test('is short if nothing was chosen', () => {
    expect(writeFragment('overview', new Map())).toBe('#/overview');
    expect(parseFragment('#/overview')).toEqual({ view: 'overview', values: new Map() });
    expect(parseFragment('')).toEqual({ view: '', values: new Map() });
  });

  test('of lists holds any names', () => {
    for (const items of [[], [''], ['a', 'b'], ['a,b', '%', '%2C', ','], ['', '']])
      expect(list.read(list.write(items))).toEqual(items);
  });

  test('falls back if a link is invalid', () => {
    expect(number.read('fast')).toBeUndefined();
    expect(number.read('')).toBeUndefined();
    expect(number.read('1e999')).toBeUndefined();
    expect(optional(number).read('')).toBeNull();
    expect(['7', '-1', '0.5', 'x'].map(numberIn(0, 0.999).read)).toEqual([0.999, 0, 0.5, undefined]);
    expect(optional(numberIn(-100, 100)).read('-1e20')).toBe(-100);
    expect(flag.read('yes')).toBeUndefined();
    expect(oneOf('a', 'b').read('c')).toBeUndefined();
    expect(json((value): value is string[] => Array.isArray(value)).read('{')).toBeUndefined();
    expect(json((value): value is string[] => Array.isArray(value)).read('{}')).toBeUndefined();
    expect(selectionCodec.read('a,b')).toBeUndefined();
  });
});

describe('which runs are shown', () => {
  test('all but some, or only some', () => {
    expect(isSelected(everything, 'a')).toBe(true);
    const without = toggled(everything, ['a'], false);
    expect([isSelected(without, 'a'), isSelected(without, 'b')]).toEqual([false, true]);
    const only = toggled(solo(['a']), ['b'], true);
    expect(['a', 'b', 'c'].map((run) => isSelected(only, run))).toEqual([true, true, false]);
    expect(toggled(without, ['a'], true)).toEqual(everything);
  });

  test('goes through a link', () => {
    for (const selection of [everything, solo(['a,b', 'c']), toggled(everything, ['x', '+'], false), solo([])])
      expect(selectionCodec.read(selectionCodec.write(selection))).toEqual(selection);
  });
});
