// Conversion between steps and positions on the x axis. On a time axis each run has reached a step at its own time.
import { type Frame, toPixel } from './scale';
import { type Line, type Scene, nearest } from './scene';

const kMost = 12; // runs with marks: more would cover the chart

interface Point {
  x: number;
  step: number;
  y: number; // NaN if the value was not finite
}

// Means over time have no steps: the runs in them give the time of each step.
const linesOf = (scene: Scene): readonly Line[] => (scene.guides.length > 0 ? scene.guides : scene.lines);

const at = (of: { x: Float64Array; step: Float64Array }, i: number, y: number): Point | null =>
  i < 0 ? null : { x: of.x[i] as number, step: of.step[i] as number, y };

// The nearest drawn or non-finite point, by x or by step.
function nearestPoint(line: Line, by: 'x' | 'step', wanted: number): Point | null {
  const i = nearest(line[by], wanted);
  const good = at(line, i, line.y[i] ?? NaN);
  const bad = at(line.bad, nearest(line.bad[by], wanted), NaN);
  if (!good || !bad) return good ?? bad;
  return Math.abs(bad[by] - wanted) < Math.abs(good[by] - wanted) ? bad : good;
}

function extent(line: Line, by: 'x' | 'step'): [number, number] {
  const ends = [line[by], line.bad[by]].flatMap((all) => (all.length > 0 ? [all[0], all[all.length - 1]] : []));
  return [Math.min(...(ends as number[])), Math.max(...(ends as number[]))];
}

// The distance of a value from the range of a line; 0 inside.
function outside(line: Line, by: 'x' | 'step', wanted: number): number {
  const [lo, hi] = extent(line, by);
  return Math.max(lo - wanted, wanted - hi, 0);
}

// The line that a click refers to: the nearest in height among those at this position, otherwise the one whose end is
// nearest.
function meant(scene: Scene, frame: Frame, x: number, py: number): Line | null {
  let found: Line | null = null;
  let best: [number, number] = [Infinity, Infinity];
  for (const line of linesOf(scene)) {
    const point = nearestPoint(line, 'x', x);
    if (!point) continue;
    const height = Number.isNaN(point.y) ? Number.MAX_VALUE : Math.abs(toPixel(frame.y, point.y) - py);
    const away: [number, number] = [outside(line, 'x', x), height];
    if (away[0] > best[0] || (away[0] === best[0] && away[1] >= best[1])) continue;
    found = line;
    best = away;
  }
  return found;
}

// The step at the clicked position; null if the axis does not give steps.
export function stepAt(scene: Scene, frame: Frame, x: number, py: number): number | null {
  if (scene.axis === 'number') return x;
  const line = meant(scene, frame, x, py);
  return (line && nearestPoint(line, 'x', x)?.step) ?? null;
}

// The steps of a section of the axis: of the line at its end, where the pointer was released.
export function stepsBetween(
  scene: Scene,
  frame: Frame,
  [a, b]: readonly [number, number],
  py: number,
): [number, number] | null {
  let steps: [number, number] = [a, b];
  if (scene.axis !== 'number') {
    const line = meant(scene, frame, (a + b) / 2, py);
    const [from, to] = [line && nearestPoint(line, 'x', a), line && nearestPoint(line, 'x', b)];
    if (!from || !to) return null;
    steps = [from.step, to.step];
  }
  return steps[0] < steps[1] ? [Math.round(steps[0]), Math.round(steps[1])] : null;
}

// One line per run: its tags were recorded at the same times.
function onePerRun(lines: readonly Line[]): Line[] {
  return [...new Map([...lines].reverse().map((line) => [line.run, line])).values()].reverse();
}

export interface Place {
  x: number;
  color: string | null; // of the run; null: the same position for all
}

// The position of a step: one on a step axis, else one for each run that has reached it.
export function placesOf(scene: Scene, step: number): Place[] {
  if (scene.axis === 'number') return [{ x: step, color: null }];
  const lines = onePerRun(linesOf(scene).filter((line) => nearestPoint(line, 'step', step)));
  const least = Math.min(...lines.map((line) => outside(line, 'step', step)));
  const found = lines.filter((line) => outside(line, 'step', step) === least).slice(0, kMost);
  return found.map((line) => ({
    x: nearestPoint(line, 'step', step)?.x as number,
    color: found.length > 1 ? line.color : null,
  }));
}

// The positions of a range of steps; adjacent sections are merged.
export function stretchesOf(scene: Scene, [first, last]: readonly [number, number]): [number, number][] {
  if (scene.axis === 'number') return [[first, last]];
  const all: [number, number][] = [];
  for (const line of onePerRun(linesOf(scene))) {
    const [lo, hi] = extent(line, 'step');
    if (!(lo <= last && hi >= first)) continue;
    const [from, to] = [nearestPoint(line, 'step', first), nearestPoint(line, 'step', last)];
    if (from && to) all.push([from.x, to.x]);
  }
  const merged: [number, number][] = [];
  for (const one of all.sort((a, b) => a[0] - b[0])) {
    const before = merged[merged.length - 1];
    if (before && one[0] <= before[1]) before[1] = Math.max(before[1], one[1]);
    else merged.push([...one]);
  }
  return merged;
}
