import { expect, it } from 'vitest';

import type { PrCurve, Tag } from '../../api_types';
import { areaOf, bestF1, cardsOf, f1Of, fitted, nearest, pointsOf } from './model';

// Four positives, four negatives.
const curve: PrCurve = {
  step: 3,
  time: 1,
  thresholds: [0, 0.25, 0.5, 0.75, 1],
  true_positives: [4, 4, 3, 2, 0],
  false_positives: [4, 2, 1, 0, 0],
  true_negatives: [0, 2, 3, 4, 4],
  false_negatives: [0, 0, 1, 2, 4],
  precision: [0.5, 4 / 6, 0.75, 1, 0],
  recall: [1, 1, 0.75, 0.5, 0],
};
const points = pointsOf(curve);

it('where nothing is predicted positive there is no point', () => {
  expect(points.map((point) => point.threshold)).toEqual([0, 0.25, 0.5, 0.75]);
  expect(points[2]).toEqual({ threshold: 0.5, precision: 0.75, recall: 0.75, tp: 3, fp: 1, tn: 3, fn: 1 });
});

it('a non-finite value is not a point either', () => {
  expect(pointsOf({ ...curve, precision: ['NaN', 1, 1, 1, 1] }).map((point) => point.threshold)).toEqual([0.25, 0.5, 0.75]);
});

it('the area counts every gain of recall with its precision', () => {
  // 0.5 at 1, 0.25 at 0.75, 0.25 at 4/6, nothing at 0.5
  expect(areaOf(points)).toBeCloseTo(0.5 + 0.25 * 0.75 + (0.25 * 4) / 6);
  expect(areaOf([{ threshold: 0.5, precision: 1, recall: 1, tp: 1, fp: 0, tn: 1, fn: 0 }])).toBe(1);
  expect(areaOf([])).toBeNaN();
});

it('the best F1 and its threshold', () => {
  const best = bestF1(points)!;
  expect(best.threshold).toBe(0.25);
  expect(f1Of(best)).toBeCloseTo(0.8);
  expect(bestF1([])).toBeNull();
  expect(f1Of({ ...best, precision: 0, recall: 0 })).toBe(0);
});

it('the nearest point is that in pixels', () => {
  expect(nearest([[0, 0], [10, 0], [10, 10]], 9, 7)).toBe(2);
  expect(nearest([], 9, 7)).toBe(-1);
});

it('fitted axes have whole twentieths as ends and never leave the unit square', () => {
  expect(fitted([points], (point) => point.precision)).toEqual([0.5, 1]);
  expect(fitted([points.map((point) => ({ ...point, precision: 0.93 }))], (point) => point.precision)[0]).toBeCloseTo(0.9);
  expect(fitted([points.map((point) => ({ ...point, precision: 1 }))], (point) => point.precision)).toEqual([0.95, 1]);
  expect(fitted([[]], (point) => point.recall)).toEqual([0, 1]);
});

it('cards are those of visible runs, with numbers in order', () => {
  const tag = (name: string, kind: string, runs: string[]): Tag => ({
    tag: name, kind, display: '', description: '', runs, points: runs.map(() => 3), first_step: runs.map(() => 0), last_step: runs.map(() => 9), interval: [], written_again: [],
  });
  const cards = cardsOf([tag('c10', 'pr_curves', ['y', 'x']), tag('c2', 'pr_curves', ['x']), tag('i', 'images', ['x']), tag('z', 'pr_curves', ['w'])], new Set(['x', 'y']));
  expect(cards.map((card) => [card.tag, card.runs.map((one) => one.run)])).toEqual([['c2', ['x']], ['c10', ['x', 'y']]]);
});
