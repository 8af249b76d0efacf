import { describe, expect, it } from 'vitest';

import { linearAxis } from './axis';
import { bands, parts } from './bands';
import { columns, heatmap, level } from './heatmap';
import { type Distribution, distribution, percentiles, type Series } from './model';
import { overlay } from './overlay';
import { domainOf, type Input, stepsOf } from './plot';
import { commonPeak, peak, profile } from './profile';
import { ridgeline } from './ridgeline';

const at = (step: number, bins: [number, number, number][], nan = 0): Distribution =>
  distribution(step, 0, {
    left: bins.map((b) => b[0]),
    right: bins.map((b) => b[1]),
    count: bins.map((b) => b[2]),
    nan,
    positive_infinity: 0,
    negative_infinity: 0,
  });

const series = (steps: Distribution[]): Series => ({ run: 'train', colour: '#fff', steps, recorded: steps.length });

const input = (all: Series[]): Input => ({
  width: 400,
  height: 200,
  series: all,
  scale: 'linear',
  heights: 'shared',
  domain: domainOf(all),
  steps: stepsOf(all),
  all,
  peaks: new Map(),
});

describe('profile', () => {
  it('keeps every count for any bins and columns', () => {
    const of = at(0, [[-1, -0.3, 7], [-0.3, -0.2999, 4], [0, 0, 9], [0, 2.7, 11], [2.7, 3, 5]]);
    for (const count of [3, 10, 333]) {
      const { mass, spike } = profile(of, linearAxis(-1, 3, 0, 400), count);
      expect(mass.reduce((a, b) => a + b)).toBeCloseTo(27);
      expect(spike.reduce((a, b) => a + b)).toBe(9);
    }
  });

  it('draws a bin between its true edges, as high as it is dense', () => {
    const { mass } = profile(at(0, [[0, 1, 10], [1, 4, 15]]), linearAxis(0, 4, 0, 40), 40);
    expect([...mass.subarray(0, 10)]).toEqual(Array(10).fill(1));
    expect([...mass.subarray(10)]).toEqual(Array(30).fill(0.5));
  });

  it('measures heights by spread values, not by a single one among them', () => {
    const axis = linearAxis(0, 4, 0, 40);
    expect(peak(profile(at(0, [[0, 0, 1000], [1, 4, 15]]), axis, 40))).toBeCloseTo(0.5);
    expect(peak(profile(at(0, [[0, 0, 1000]]), axis, 40))).toBe(1000);
  });

  it('does not let one step press all others flat', () => {
    expect(commonPeak([1, 2, 3])).toBe(3);
    expect(commonPeak([1, 2, 3000])).toBe(8);
    expect(commonPeak([0, 0])).toBe(1);
  });
});

describe('heat map', () => {
  it('gives a step half the way to its neighbours', () => {
    const cells = columns([{ step: 0 }, { step: 10 }, { step: 20 }], linearAxis(-5, 25, 0, 300));
    expect(cells.map((c) => [Math.round(c.from), Math.round(c.to)])).toEqual([[0, 100], [100, 200], [200, 300]]);
  });

  it('leaves a pause in the recording empty', () => {
    const cells = columns([0, 10, 20, 100, 110].map((step) => ({ step })), linearAxis(-5, 115, 0, 120));
    expect(cells[2]!.to).toBeCloseTo(32.5);
    expect(cells[3]!.from).toBeCloseTo(97.5);
  });

  it('draws nothing if nothing was counted', () => {
    expect(level(0, 10)).toBeNaN();
    expect(level(10, 10)).toBe(1);
    expect(level(1, 10)).toBeCloseTo(2 / 3);
    expect(level(1e-9, 10)).toBe(0);
  });

  it('finds the cell under the pointer', () => {
    const plot = heatmap(input([series([at(0, [[0, 1, 1]]), at(10, [[0, 0.5, 2], [0.5, 1, 3]])])]));
    expect(plot.hit(60, 100)).toEqual({ series: 0, index: 0, bin: 0 });
    expect(plot.hit(380, 20)).toEqual({ series: 0, index: 1, bin: 1 });
    expect(plot.hit(380, 170)).toEqual({ series: 0, index: 1, bin: 0 });
    expect(plot.stepAt(380, 170)).toBe(10);
    expect(plot.hit(10, 100)).toBeNull();
  });
});

describe('ridgeline', () => {
  const plot = ridgeline(input([series([at(0, [[0, 1, 5], [1, 2, 5]]), at(50, []), at(100, [[0, 1, 10]])])]));

  it('finds the front ridge that covers the pointer', () => {
    expect(plot.hit(60, 170)).toEqual({ series: 0, index: 2, bin: 0 });
    expect(plot.stepAt(60, 170)).toBe(100);
  });

  it('finds the step alone if it has no bin', () => {
    expect(plot.hit(330, 176)).toEqual({ series: 0, index: 2, bin: -1 });
  });

  it('finds a ridge farther back above the others', () => {
    expect(plot.hit(330, 60)).toEqual({ series: 0, index: 0, bin: 1 });
  });

  it('finds nothing beside the chart', () => {
    expect(plot.hit(395, 100)).toBeNull();
    expect(plot.hit(100, 199)).toBeNull();
  });
});

describe('overlay', () => {
  // Twice as many values in half the width: as shares, twice as high.
  const plot = overlay(input([series([at(0, [[0, 2, 5]])]), series([at(3, [[0, 1, 10]])])]));

  it('finds the line that is nearest to the pointer', () => {
    expect(plot.hit(100, 8)).toEqual({ series: 1, index: 0, bin: 0 });
    expect(plot.hit(300, 95)).toEqual({ series: 0, index: 0, bin: 0 });
    expect(plot.hit(300, 50)).toBeNull();
    expect(plot.hit(300, 136)).toBeNull();
  });
});

it('panels of a card are drawn to one scale', () => {
  const flat = series([at(0, [[0, 2, 5]])]);
  const steep = series([at(0, [[0, 0.5, 5]])]);
  const card = input([flat, steep]);
  const alone = overlay({ ...input([flat]), domain: card.domain });
  const beside = overlay({ ...card, series: [flat] });
  expect(alone.hit(100, 8)).toEqual({ series: 0, index: 0, bin: 0 });
  expect(beside.hit(100, 8)).toBeNull();
  expect(beside.hit(100, 136)).toEqual({ series: 0, index: 0, bin: 0 });
});

describe('percentile bands', () => {
  const lines = [at(0, [[0, 1, 2]]), at(1, []), at(2, [[0, 4, 2]]), at(3, [[0, 4, 2]])];

  it('end where a step has no finite values', () => {
    expect(parts(lines.map(percentiles))).toEqual([[0, 0], [2, 3]]);
  });

  it('find the nearest recorded step', () => {
    const plot = bands(input([series(lines)]));
    expect(plot.stepAt(56, 100)).toBe(0);
    expect(plot.stepAt(384, 100)).toBe(3);
    expect(plot.hit(20, 100)).toBeNull();
  });
});
