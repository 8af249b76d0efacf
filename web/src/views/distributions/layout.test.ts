import { describe, expect, it } from 'vitest';

import { kindsOf, most } from './data';
import { bodyHeight, cardHeight, panelGrid } from './layout';
import { finiteParts, type Range } from './ranges';

describe('panels', () => {
  it('are side by side as long as there is room', () => {
    expect(panelGrid(3, 900, 250)).toEqual({ columns: 3, rows: 1, width: 300, height: 230 });
    expect(panelGrid(10, 900, 690)).toEqual({ columns: 4, rows: 3, width: 225, height: 210 });
    expect(panelGrid(3, 150, 690)).toEqual({ columns: 1, rows: 3, width: 150, height: 210 });
  });

  it('have no title if there is one', () => {
    expect(panelGrid(1, 400, 250)).toEqual({ columns: 1, rows: 1, width: 400, height: 250 });
  });

  it('make a card as high as their rows need', () => {
    expect(cardHeight(10, 900) - cardHeight(1, 900)).toBe(bodyHeight(3) - bodyHeight(1));
    expect(cardHeight(100, 900)).toBe(cardHeight(12, 900));
  });
});

it('as many steps are asked for as can be told apart', () => {
  expect(most('overlay', 1000, 1000)).toBe(24);
  expect(most('ridgeline', 400, 230)).toBe(30);
  expect(most('heatmap', 230, 230)).toBe(100);
  expect(most('bands', 5000, 230)).toBe(200);
});

it('statistics are asked for first, and only what there is', () => {
  const recorded = { points: 1, last: 0 };
  const both = { run: 'x', kinds: { histograms: recorded, statistics: recorded } };
  expect(kindsOf(both, 'auto')).toEqual(['statistics', 'histograms']);
  expect(kindsOf(both, 'histograms')).toEqual(['histograms']);
  expect(kindsOf({ run: 'x', kinds: { histograms: recorded } }, 'statistics')).toEqual([]);
});

it('ranges end where nothing was finite', () => {
  const at = (step: number, mean: number): Range => ({
    step, time: 0, count: 1, min: mean, max: mean, mean, std: 0, zeros: 0, nan: 0, positiveInfinity: 0, negativeInfinity: 0,
  });
  const parts = finiteParts([at(0, 1), at(1, 2), at(2, NaN), at(3, 4), at(4, NaN)]);
  expect(parts.map((part) => part.map((one) => one.step))).toEqual([[0, 1], [3]]);
});
