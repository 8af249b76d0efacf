import { describe, expect, test } from 'vitest';

import type { TableRow } from '../api_types';
import { type Exact, ExactValues } from './exact';
import type { Question } from './tooltip';

const question = (step: number): Question => ({ key: String(step), step, smooth: 0, series: [] });

function asker() {
  const asked: number[] = [];
  const answers: ((rows: TableRow[]) => void)[] = [];
  const shown: Exact[] = [];
  const exact = new ExactValues(
    (one) => {
      asked.push(one.step!);
      return new Promise((resolve) => answers.push(resolve));
    },
    (one) => shown.push(one),
  );
  const answer = async () => {
    answers.shift()!([]);
    await Promise.resolve();
    await Promise.resolve();
    await Promise.resolve();
  };
  return { exact, asked, shown, answer };
}

describe('values at the pointer', () => {
  test('are asked for one after the other, and only the newest of those that wait', async () => {
    const { exact, asked, shown, answer } = asker();
    for (const step of [1, 2, 3]) exact.want(question(step));
    expect(asked).toEqual([1]);
    await answer();
    expect(asked).toEqual([1, 3]);
    await answer();
    expect(shown.map((one) => one.question.step)).toEqual([1, 3]);
  });

  test('that are known come at once, until the data changes', async () => {
    const { exact, asked, shown, answer } = asker();
    exact.want(question(1));
    await answer();
    exact.want(question(2));
    await answer();
    exact.want(question(1));
    expect(asked).toEqual([1, 2]);
    expect(shown.map((one) => one.question.step)).toEqual([1, 2, 1]);
    exact.clear();
    exact.want(question(1));
    expect(asked).toEqual([1, 2, 1]);
  });

  test('are asked for again if the data changes before the answer', async () => {
    const { exact, asked, answer } = asker();
    exact.want(question(1));
    exact.clear();
    await answer();
    expect(asked).toEqual([1, 1]);
  });

  test('are not shown once the pointer has left', async () => {
    const { exact, shown, answer } = asker();
    exact.want(question(1));
    exact.want(null);
    await answer();
    expect(shown).toEqual([]);
  });
});
