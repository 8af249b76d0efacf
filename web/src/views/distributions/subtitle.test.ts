import { expect, test } from 'vitest';

import { distribution } from './model';
import { stepsSaid } from './Subtitle';

const series = (steps: number[], recorded = steps.length, damaged: number[] = []) => ({
  steps: steps.map((step) => distribution(step, 0, { left: [], right: [], count: [], nan: 0, positive_infinity: 0, negative_infinity: 0 })),
  recorded,
  damaged: damaged.map((step) => ({ step, text: 'a count is negative' })),
});

test('a step that several runs have is one step', () => {
  expect(stepsSaid([series([0, 10, 20]), series([0, 10, 30])])).toBe('4 steps');
  expect(stepsSaid([series([7])])).toBe('1 step');
  expect(stepsSaid([])).toBe('0 steps');
});

test('where some are left out it says of how many', () => {
  expect(stepsSaid([series([0, 10, 20], 500)])).toBe('3 of 500 steps');
  expect(stepsSaid([series([0, 10]), series([0, 10, 20], 500)])).toBe('3 of 500 steps per run');
});

test('what could not be read is not said to be left out for lack of room', () => {
  expect(stepsSaid([series([0, 20], 3, [10])])).toBe('2 steps');
});
