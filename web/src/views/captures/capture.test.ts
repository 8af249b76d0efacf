import { describe, expect, test } from 'vitest';

import type { Capture, CapturedTensor, GrowthStep } from '../../api_types';
import { addressOf, elementsOf, grownFold, healthOf, partsOf, placeOf, roleOf, usualStep, usualTensor } from './capture';

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

  const step = (number: number, tensors: CapturedTensor[]) => ({
    step: number,
    evaluation: false,
    complete: true,
    wall_time: 0,
    file: `${number}.safetensors`,
    scalars: [],
    tensors,
  });
  const bad = tensor({ key: 'activation/a', nan: 1 });
  const later = tensor({ key: 'activation/b', nan: 6 });
  const capture: Capture = {
    cause: 'trigger',
    reason: 'nan',
    when: "nonfinite('.*')",
    values: [],
    step: 8,
    wall_time: 0,
    before: 2,
    after: 0,
    steps: [step(6, [tensor({})]), step(7, [bad, later]), step(8, [bad, later])],
    dropped: [],
    problems: ['', '', ''],
    origin: {
      found: true,
      producers: [{ key: 'activation/a', step: 7, count: 6, nan: 1, infinite: 0, inputs: [], unseen: [] }],
      propagators: ['activation/b'],
      caveats: [],
    },
  };

  test('opens at the step and the tensor of the first bad value', () => {
    expect([usualStep(capture), usualTensor(capture)]).toEqual([1, 'activation/a']);
    const finite = { ...capture, origin: { found: false, producers: [], propagators: [], caveats: [] } };
    expect([usualStep(finite), usualTensor(finite)]).toEqual([2, 'activation/a']);
    expect(usualStep({ ...finite, step: 99 })).toBe(2);
    expect([usualStep({ ...finite, steps: [] }), usualTensor({ ...finite, steps: [] })]).toEqual([-1, '']);
  });

  test('tells producers from tensors that pass a bad value on', () => {
    const roles = capture.steps.map((one) => one.tensors.map((each) => roleOf(capture, one, each)));
    expect(roles).toEqual([[''], ['producer', 'passes it on'], ['not finite', 'not finite']]);
  });

  test('says how a tensor grew while it was finite', () => {
    const grown = (number: number, max: GrowthStep['max'], nan = 0): GrowthStep => ({
      step: number, evaluation: false, count: 6, nan, positive_infinity: 0, negative_infinity: 0, zeros: 0, min: -1, max, mean: 0, rms: 1,
    });
    expect(grownFold([grown(1, 2), grown(2, 20), grown(3, 200, 1)])).toEqual({ first: 1, last: 2, from: 2, to: 20 });
    expect(grownFold([grown(1, 2), grown(2, 20, 1)])).toBeNull();
    expect(grownFold([])).toBeNull();
  });

  test('finds the place of an error in a condition', () => {
    expect(placeOf("when 'loss >', column 7: expected a number or a name, found the end", 'loss >')).toEqual({
      column: 7,
      text: 'expected a number or a name, found the end',
    });
    expect(placeOf('no process is recording the run', 'loss >')).toBeNull();
    expect(placeOf("when 'a', column 99: no", 'a')).toBeNull();
  });
});
