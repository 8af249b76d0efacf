import { describe, expect, test } from 'vitest';

import type { Series } from '../api_types';
import { buildScene } from './build';
import { kClip } from './scene';

const of = (...all: number[]) => Float64Array.from(all);
const view = {
  axis: 'step' as const,
  logX: false,
  logY: false,
  clip: null,
  smooth: 0,
  interval: undefined,
  xRange: null,
  yRange: undefined,
  started: () => 0,
  margins: [],
};

function series(steps: number[], values: number[], bad: number[]): Series {
  const none = of();
  const raw = { step: of(...steps), time: of(...steps), value: of(...values) };
  const counts = new Uint32Array(bad.length);
  return {
    found: true,
    total: steps.length + bad.length,
    raw,
    smooth: { step: none, time: none, value: none },
    bad: { step: of(...bad), time: of(...bad), nan: counts.map(() => 1), posInf: counts, negInf: counts },
  };
}

describe('a mean', () => {
  const runs = ['a', 'b', 'c'];
  const group = { tag: 'loss', runs, label: 'g', color: '#fff' };
  const band = { found: true, total: 6, x: of(0, 1), mean: of(1, 1), std: of(0, 0), min: of(1, 1), max: of(1, 1), count: Uint32Array.of(3, 2) };
  const mark = (run: string) => ({ id: `${run}\nloss`, run, tag: 'loss', label: run, color: '#fff', dash: [] });
  const goneWith = (all: Record<string, Series>) => {
    const names = Object.keys(all);
    const wanted = { series: names.map((run) => ({ run, tag: 'loss' })), groups: [group], window: null };
    const data = { key: '', wanted, series: Object.values(all), bands: [band] };
    return buildScene(data, { lines: [], groups: [group], marks: names.map(mark), guides: [] }, view).bands[0]?.gone;
  };

  test('knows how many runs have left it, and since when', () => {
    expect(goneWith({})).toBeNull();
    expect(goneWith({ a: series([0, 1, 2], [1, 1, 1], [3, 4]) })).toEqual({ runs: 1, step: 3 });
    expect(goneWith({ a: series([0, 1], [1, 1], [5]), b: series([0], [1], [2, 3]) })).toEqual({ runs: 2, step: 2 });
  });

  test('has a run back that is finite again', () => {
    expect(goneWith({ a: series([0, 1, 4], [1, 1, 1], [2, 3]) })).toBeNull();
  });
});

describe('a chart with clipped outliers', () => {
  const spec = { id: 'a\nloss', run: 'a', tag: 'loss', label: 'a', color: '#fff', dash: [] };
  const steps = Array.from({ length: 50 }, (_, i) => i);
  const values = steps.map((i) => 1 - i / 100);
  const sceneOf = (all: number[], more: object) => {
    const data = { key: '', wanted: { series: [spec], groups: [], window: null }, series: [series(steps, all, [])], bands: [] };
    return buildScene(data, { lines: [spec], groups: [], marks: [], guides: [] }, { ...view, ...more });
  };

  test('knows what it leaves out', () => {
    const scene = sceneOf(values.with(30, 50), { clip: kClip });
    expect(scene.y[1]).toBeLessThan(2);
    expect(scene.clipped).toEqual([null, 50]);
  });

  test('leaves out nothing if nothing is an outlier, or the range is set by hand', () => {
    expect(sceneOf(values, { clip: kClip }).clipped).toEqual([null, null]);
    expect(sceneOf(values.with(30, 50), {}).clipped).toEqual([null, null]);
    expect(sceneOf(values.with(30, 50), { clip: kClip, yRange: [null, 3] }).clipped).toEqual([null, null]);
  });
});
