// The content of a chart, in units of its axes.
import type { AxisKind } from './scale';

export interface Line {
  id: string; // unique in the chart
  run: string;
  tag: string;
  label: string;
  color: string;
  dash: number[];
  x: Float64Array; // of the main line: smoothed if smoothing is on
  y: Float64Array;
  step: Float64Array;
  time: Float64Array;
  rawX: Float64Array | null; // drawn faintly behind it; null: the line is the raw one
  rawY: Float64Array | null;
  bad: { x: Float64Array; step: Float64Array; time: Float64Array; nan: Uint32Array; posInf: Uint32Array; negInf: Uint32Array };
}

export interface BandShape {
  id: string;
  label: string;
  color: string;
  x: Float64Array;
  mean: Float64Array; // smoothed if smoothing is on
  raw: Float64Array | null; // drawn faintly behind it; null: the mean is the raw one
  low: Float64Array; // of the raw mean: minus and plus the standard deviation
  high: Float64Array;
  min: Float64Array;
  max: Float64Array;
  count: Uint32Array;
  gone: { runs: number; step: number } | null; // runs that became non-finite, and the step of the first
}

// The area between two recorded lines, as defined by a layout.
export interface Margin {
  color: string;
  lowX: Float64Array;
  low: Float64Array;
  highX: Float64Array;
  high: Float64Array;
}

export interface Scene {
  lines: Line[];
  bands: BandShape[];
  margins: Margin[];
  guides: Line[]; // not drawn: the time of each step, for means over time
  axis: AxisKind;
  logX: boolean;
  logY: boolean;
  x: [number, number];
  y: [number, number];
  clipped: readonly [number | null, number | null]; // the smallest and largest outlier beyond y
}

// The index of the point nearest to x; -1 if there is none. `xs` ascends.
export function nearest(xs: Float64Array, x: number): number {
  if (xs.length === 0) return -1;
  let lo = 0;
  let hi = xs.length - 1;
  while (lo < hi) {
    const mid = (lo + hi) >> 1;
    if ((xs[mid] as number) < x) lo = mid + 1;
    else hi = mid;
  }
  if (lo > 0 && Math.abs((xs[lo - 1] as number) - x) <= Math.abs((xs[lo] as number) - x)) --lo;
  return lo;
}

function eachY(scene: Pick<Scene, 'lines' | 'bands'>, x: readonly [number, number], take: (y: number) => void): void {
  for (const line of scene.lines) {
    const xs = line.rawX ?? line.x;
    const ys = line.rawY ?? line.y;
    for (let i = 0; i < xs.length; ++i)
      if ((xs[i] as number) >= x[0] && (xs[i] as number) <= x[1]) take(ys[i] as number);
  }
  for (const band of scene.bands)
    for (let i = 0; i < band.x.length; ++i) {
      if ((band.x[i] as number) < x[0] || (band.x[i] as number) > x[1]) continue;
      take(band.low[i] as number);
      take(band.high[i] as number);
    }
}

// The definition of an outlier: at most this share of the values at either end, and only if the rest is at least
// `times` times as tall without them.
export interface Clip {
  share: number;
  times: number;
}
export const kClip: Clip = { share: 0.02, times: 4 }; // only outliers that flatten the rest

const kEnough = 20; // with fewer values there are no outliers

// The smallest and largest value in view; without outliers those of the inner values, with some room.
export function fitY(
  scene: Pick<Scene, 'lines' | 'bands'>,
  x: readonly [number, number],
  log: boolean,
  clip: Clip | null,
): [number, number] {
  let lo = Infinity;
  let hi = -Infinity;
  const all: number[] = [];
  eachY(scene, x, (y) => {
    if (!Number.isFinite(y) || (log && y <= 0)) return;
    if (y < lo) lo = y;
    if (y > hi) hi = y;
    if (clip) all.push(y);
  });
  if (!clip || all.length < kEnough) return [lo, hi];
  const sorted = Float64Array.from(all).sort();
  const left = Math.max(1, Math.floor(clip.share * sorted.length));
  const low = sorted[left] as number;
  const high = sorted[sorted.length - 1 - left] as number;
  if (log) {
    if (Math.log(hi / lo) < clip.times * Math.log(high / low)) return [lo, hi];
    const room = (high / low) ** 0.15;
    return [Math.max(lo, low / room), Math.min(hi, high * room)];
  }
  if (hi - lo < clip.times * (high - low)) return [lo, hi];
  const room = (high - low) * 0.15;
  return [Math.max(lo, low - room), Math.min(hi, high + room)];
}

export function fitX(scene: Pick<Scene, 'lines' | 'bands'>, log: boolean): [number, number] {
  let lo = Infinity;
  let hi = -Infinity;
  const take = (xs: Float64Array) => {
    const first = log ? xs.find((x) => x > 0) : xs[0];
    if (first === undefined) return;
    lo = Math.min(lo, first);
    hi = Math.max(hi, xs[xs.length - 1] as number);
  };
  for (const line of scene.lines) {
    take(line.rawX ?? line.x);
    take(line.bad.x);
  }
  for (const band of scene.bands) take(band.x);
  return [lo, hi];
}
