import { describe, expect, test } from 'vitest';

import type { CapturedTensor } from '../../api_types';
import { addressOf, elementsOf, healthOf, partsOf } from './capture';

const tensor = (counts: Partial<CapturedTensor>): CapturedTensor => ({
  key: 'activation/a',
  name: 'a',
  kind: 'activation',
  inputs: [],
  dtype: 'f32',
  shape: [2, 3],
  count: 6,
  nan: 0,
  positive_infinity: 0,
  negative_infinity: 0,
  ...counts,
});

describe('a capture', () => {
  test('has an address that names its run, for any name', () => {
    for (const run of ['train', 'a/captures/b', '.', 'with space'])
      expect(partsOf(addressOf(run, '3-nan'))).toEqual({ run, name: '3-nan' });
    for (const wrong of ['', 'train', 'train/captures/']) expect(partsOf(wrong)).toBeNull();
  });

  test('says how many elements of a tensor are not finite', () => {
    expect(healthOf(tensor({}))).toBe('finite');
    expect(healthOf(tensor({ count: 0 }))).toBe('empty');
    expect(healthOf(tensor({ nan: 2, positive_infinity: 1, negative_infinity: 3 }))).toBe('2 NaN, 1 Inf, 3 −Inf of 6');
    expect(elementsOf({ nan: 2, infinite: 1, count: 6 })).toBe('2 NaN and 1 Inf in 6 elements');
  });
});
