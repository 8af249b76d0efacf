// The data of a precision-recall curve. Pure.
import { num } from '../../api';
import type { PrCurve, Tag } from '../../api_types';
import { compareNames } from '../../names';

// One threshold.
export interface Point {
  threshold: number;
  precision: number;
  recall: number;
  tp: number; // true positives; fp, tn and fn in the same way
  fp: number;
  tn: number;
  fn: number;
}

// By ascending threshold. If nothing is predicted positive there is no precision, so there is no point.
export function pointsOf(curve: PrCurve): Point[] {
  const points = curve.thresholds.map((threshold, i): Point => ({
    threshold,
    precision: num(curve.precision[i]),
    recall: num(curve.recall[i]),
    tp: num(curve.true_positives[i]),
    fp: num(curve.false_positives[i]),
    tn: num(curve.true_negatives[i]),
    fn: num(curve.false_negatives[i]),
  }));
  return points.filter((p) => p.tp + p.fp > 0 && Number.isFinite(p.precision) && Number.isFinite(p.recall));
}

// Average precision: the area under the curve, where each gain of recall counts with its precision. Nothing is assumed
// between the thresholds.
export function areaOf(points: readonly Point[]): number {
  let area = 0;
  let before = 0;
  for (let i = points.length - 1; i >= 0; --i) {
    const { recall, precision } = points[i]!;
    area += (recall - before) * precision;
    before = recall;
  }
  return points.length > 0 ? area : NaN;
}

export const f1Of = ({ precision, recall }: Point): number => (precision + recall > 0 ? (2 * precision * recall) / (precision + recall) : 0);

export function bestF1(points: readonly Point[]): Point | null {
  return points.reduce<Point | null>((best, point) => (best === null || f1Of(point) > f1Of(best) ? point : best), null);
}

// The index of the point nearest to the pointer, in pixels; -1 if there is none.
export function nearest(places: readonly (readonly [number, number])[], x: number, y: number): number {
  let found = -1;
  let least = Infinity;
  places.forEach(([px, py], i) => {
    const distance = (px - x) ** 2 + (py - y) ** 2;
    if (distance >= least) return;
    least = distance;
    found = i;
  });
  return found;
}

export interface Card {
  tag: string;
  runs: { run: string; points: number; last: number }[]; // recorded steps, and the last of them
}

export function cardsOf(tags: readonly Tag[], visible: ReadonlySet<string>): Card[] {
  return tags
    .filter((tag) => tag.kind === 'pr_curves')
    .map((tag): Card => {
      const runs = tag.runs.map((run, i) => ({ run, points: tag.points[i] ?? 0, last: tag.last_step[i] ?? 0 }));
      return { tag: tag.tag, runs: runs.filter((one) => visible.has(one.run)).sort((a, b) => compareNames(a.run, b.run)) };
    })
    .filter((card) => card.runs.length > 0)
    .sort((a, b) => compareNames(a.tag, b.tag));
}

export const cardId = (card: Card): string => `curves:${card.tag}`;

// The part of the unit square that the curves need, rounded outwards to twentieths.
export function fitted(curves: readonly (readonly Point[])[], of: (point: Point) => number): [number, number] {
  let lo = Infinity;
  let hi = -Infinity;
  for (const points of curves)
    for (const point of points) {
      lo = Math.min(lo, of(point));
      hi = Math.max(hi, of(point));
    }
  if (lo > hi) return [0, 1];
  const least = Math.max(0, Math.floor(lo * 20 + 1e-9) / 20);
  const most = Math.min(1, Math.ceil(hi * 20 - 1e-9) / 20);
  if (most > least) return [least, most];
  return most >= 1 ? [0.95, 1] : [least, least + 0.05];
}
