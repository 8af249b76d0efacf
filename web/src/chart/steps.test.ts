import { describe, expect, test } from 'vitest';

import { frameOf } from './draw';
import type { Line, Scene } from './scene';
import { placesOf, stepAt, stepsBetween, stretchesOf } from './steps';

const none = new Float64Array();
const counts = new Uint32Array();

// A point a second, all of one value, with steps from 0.
function run(name: string, begins: number, steps: number, value: number): Line {
  const step = Float64Array.from({ length: steps + 1 }, (_, i) => i);
  const x = step.map((i) => begins + i);
  return {
    id: name,
    run: name,
    tag: 'loss',
    label: name,
    color: `color of ${name}`,
    dash: [],
    x,
    y: x.map(() => value),
    step,
    time: x,
    rawX: null,
    rawY: null,
    bad: { x: none, step: none, time: none, nan: counts, posInf: counts, negInf: counts },
  };
}

const scene: Scene = {
  lines: [run('late', 500, 100, 2), run('early', 0, 1000, 8)],
  bands: [],
  margins: [],
  guides: [],
  axis: 'wall',
  logX: false,
  logY: false,
  x: [0, 1000],
  y: [0, 10],
  clipped: [null, null],
};
const frame = frameOf(scene, 800, 300);

describe('on an axis of time', () => {
  test('a click means the run that was there, and of several the nearest', () => {
    expect(stepAt(scene, frame, 400, frame.bottom)).toBe(400);
    expect(stepAt(scene, frame, 550, frame.top)).toBe(550);
    expect(stepAt(scene, frame, 550, frame.bottom)).toBe(50);
    expect(stepAt(scene, frame, 5000, frame.bottom)).toBe(1000);
    expect(stepAt({ ...scene, lines: [] }, frame, 1, 1)).toBe(null);
  });

  test('a step is at a place of its own in each run that has come so far', () => {
    expect(placesOf(scene, 80)).toEqual([
      { x: 580, color: 'color of late' },
      { x: 80, color: 'color of early' },
    ]);
    expect(placesOf(scene, 999)).toEqual([{ x: 999, color: null }]);
    expect(placesOf(scene, 5000)).toEqual([{ x: 1000, color: null }]);
  });

  test('a range is of the run that is meant', () => {
    expect(stepsBetween(scene, frame, [520, 560], frame.bottom)).toEqual([20, 60]);
    expect(stepsBetween(scene, frame, [520, 560], frame.top)).toEqual([520, 560]);
    expect(stepsBetween(scene, frame, [700, 800], frame.bottom)).toEqual([700, 800]);
    expect(stretchesOf(scene, [20, 60])).toEqual([
      [20, 60],
      [520, 560],
    ]);
    expect(stretchesOf(scene, [700, 800])).toEqual([[700, 800]]);
    expect(stretchesOf(scene, [0, 1000])).toEqual([[0, 1000]]);
  });

  test('what was not finite was recorded, too', () => {
    const [late] = scene.lines as [Line];
    const at = Float64Array.of(900);
    const bad = { x: at, step: Float64Array.of(400), time: at, nan: Uint32Array.of(1), posInf: counts, negInf: counts };
    const broken = { ...scene, lines: [{ ...late, bad }] };
    expect(stepAt(broken, frame, 890, 0)).toBe(400);
    expect(placesOf(broken, 390)[0]?.x).toBe(900);
  });

  test('where means are drawn, runs that are in them say when a step was', () => {
    const means = { ...scene, lines: [], guides: scene.lines };
    expect(stepAt(means, frame, 400, frame.bottom)).toBe(400);
    expect(placesOf(means, 80)).toEqual(placesOf(scene, 80));
    expect(stretchesOf(means, [10, 20])).toEqual(stretchesOf(scene, [10, 20]));
  });
});

test('on an axis of steps they are what they are', () => {
  const plain: Scene = { ...scene, axis: 'number' };
  expect(stepAt(plain, frame, 12.5, 0)).toBe(12.5);
  expect(placesOf(plain, 12)).toEqual([{ x: 12, color: null }]);
  expect(stepsBetween(plain, frame, [1.2, 7.9], 0)).toEqual([1, 8]);
});
