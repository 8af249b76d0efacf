import { describe, expect, it } from 'vitest';

import { neighbours, shownAt, union } from './steps';

describe('the step that is shown', () => {
  const steps = [10, 20, 40];

  it('is the newest at or before the cursor', () => {
    expect(shownAt(steps, 20)).toEqual({ index: 1, step: 20, exact: true });
    expect(shownAt(steps, 39)).toEqual({ index: 1, step: 20, exact: false });
    expect(shownAt(steps, 4000)).toEqual({ index: 2, step: 40, exact: false });
  });

  it('is the first if there is none before', () => {
    expect(shownAt(steps, 3)).toEqual({ index: 0, step: 10, exact: false });
  });

  it('is the last if there is no cursor', () => {
    expect(shownAt(steps, null)).toEqual({ index: 2, step: 40, exact: true });
    expect(shownAt([], null)).toBeNull();
  });
});

it('steps of several runs are put together', () => {
  expect(union([[1, 5], [], [2, 5, 9]])).toEqual([1, 2, 5, 9]);
});

it('neighbours are there before they are asked for', () => {
  expect(neighbours(10, 4)).toEqual([5, 3, 6]);
  expect(neighbours(2, 0)).toEqual([1]);
  expect(neighbours(2, 1)).toEqual([0]);
});
