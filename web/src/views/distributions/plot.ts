// Common parts of the four charts: their input, their answers for the pointer, and the frame around the data.
import { kFont } from '../../chart/painter';
import { short } from '../../ui/format';
import { type Axis, linearAxis, logAxis, logThreshold, type Scale } from './axis';
import { commonPeak, peak, type Profile, profile } from './profile';
import type { Theme } from './colours';
import { type Distribution, extent, isBad, percentile, type Series, stepAt } from './model';

export interface Input {
  width: number; // CSS pixels, of the whole chart
  height: number;
  series: readonly Series[];
  scale: Scale;
  heights: Heights;
  // Of the card: all its panels have the same axes and heights. Null if nothing is finite.
  domain: Domain | null;
  steps: [number, number];
  all: readonly Series[];
  peaks: Map<number, number>; // computed by the first panel for all: see commonShare
}

// Whether the densities of all steps are drawn on one scale, or each scaled to the full height.
export type Heights = 'shared' | 'each';

export interface Domain {
  low: number;
  high: number;
  threshold: number; // see logThreshold
}

// What is under the pointer.
export interface Hit {
  series: number;
  index: number; // of the step in the series
  bin: number; // -1: none, the step alone
}

export interface Marks {
  cursor: number | null; // the global step
  hit: Hit | null;
}

export interface Plot {
  draw(context: CanvasRenderingContext2D, theme: Theme, marks: Marks): void;
  hit(x: number, y: number): Hit | null;
  // The drawn step at a position; null outside.
  stepAt(x: number, y: number): number | null;
  // The axis of steps from left to right; null if there is none.
  across: Axis | null;
}

export interface Box {
  left: number;
  top: number;
  right: number;
  bottom: number;
}


// The values that an axis covers: all of them, or without the rarest.
export type Reach = 'all' | 'usual';

export function domainOf(all: readonly Series[], reach: Reach = 'all', scale: Scale = 'log'): Domain | null {
  const every = all.flatMap((one) => one.steps);
  const found = reach === 'all' ? extent(every) : usualExtent(every);
  return found && { low: found[0], high: found[1], threshold: scale === 'log' ? logThreshold(some(every)) : 1 };
}

// A sample for the threshold, which need not be exact.
function some(all: readonly Distribution[]): Distribution[] {
  const every = Math.ceil(all.length / 32);
  return all.filter((_, i) => i % every === 0);
}

// From the smallest to the largest value of the middle 99 % of any step.
function usualExtent(all: readonly Distribution[]): [number, number] | null {
  const counted = all.filter((one) => one.total > 0);
  if (counted.length === 0) return null;
  return [Math.min(...counted.map((one) => percentile(one, 0.5))), Math.max(...counted.map((one) => percentile(one, 99.5)))];
}

export function stepsOf(all: readonly Series[]): [number, number] {
  let low = Infinity;
  let high = -Infinity;
  for (const { steps } of all) {
    if (steps.length === 0) continue;
    low = Math.min(low, steps[0]!.step);
    high = Math.max(high, steps[steps.length - 1]!.step);
  }
  return low <= high ? [low, high] : [0, 1];
}

export function valueAxis(input: Input, from: number, to: number): Axis {
  const { low, high, threshold } = input.domain ?? { low: 0, high: 1, threshold: 1 };
  const most = Math.max(3, Math.min(7, Math.floor(Math.abs(to - from) / (from < to ? 64 : 32))));
  return input.scale === 'log' ? logAxis(low, high, threshold, from, to, most) : linearAxis(low, high, from, to, most);
}

export function stepAxis(input: Input, from: number, to: number): Axis {
  const [low, high] = input.steps;
  const most = Math.max(3, Math.min(6, Math.floor(Math.abs(to - from) / (from < to ? 64 : 28))));
  const axis = low < high ? linearAxis(low, high, from, to, most) : linearAxis(low - 0.5, low + 0.5, from, to, most);
  const ticks = low < high ? axis.ticks.filter(Number.isInteger) : [low];
  return { ...axis, ticks };
}

// The share of a step's values in the highest column of the card. Shares, not counts: a small batch is compared with a
// large one. Panels have the same size, so the number of columns identifies the axis.
export function commonShare(input: Input, axis: Axis, columns: number): number {
  const known = input.peaks.get(columns);
  if (known !== undefined) return known;
  const every = input.all.flatMap((one) => one.steps).filter((one) => one.total > 0);
  const common = commonPeak(every.map((one) => peak(profile(one, axis, columns)) / one.total));
  input.peaks.set(columns, common);
  return common;
}

export interface Shape {
  series: number;
  index: number;
  of: Distribution;
  profile: Profile;
  peak: number; // the scale of its height
}

// Every step's profile along a horizontal value axis with one column per pixel, by ascending step over all runs.
export function shapes(input: Input, axis: Axis): Shape[] {
  const columns = Math.max(1, Math.round(axis.to - axis.from));
  const all: Shape[] = [];
  input.series.forEach((series, s) =>
    series.steps.forEach((of, index) => {
      const made = profile(of, axis, columns);
      all.push({ series: s, index, of, profile: made, peak: peak(made) });
    }),
  );
  if (input.heights === 'shared') {
    const common = commonShare(input, axis, columns);
    for (const shape of all) shape.peak = common * (shape.of.total || 1);
  }
  return all.sort((a, b) => a.of.step - b.of.step || a.series - b.series);
}

// The step of each run for the cursor at `cursor`.
export function current(input: Input, cursor: number | null): Map<number, number> {
  const found = new Map<number, number>();
  if (cursor === null) return found;
  input.series.forEach((series, s) => {
    const at = stepAt(series.steps, cursor);
    if (at >= 0) found.set(s, at);
  });
  return found;
}

export function valueLabels(context: CanvasRenderingContext2D, axis: Axis, theme: Theme, box: Box): void {
  context.font = kFont;
  context.fillStyle = theme.faint;
  context.textAlign = 'center';
  context.textBaseline = 'top';
  for (const tick of axis.ticks) context.fillText(short(tick), clampLabel(axis.place(tick), box), box.bottom + 6);
}

// Keeps a label at the end of an axis inside the chart.
function clampLabel(x: number, box: Box): number {
  return Math.min(box.right - 8, Math.max(box.left + 8, x));
}

export function sideLabels(
  context: CanvasRenderingContext2D, axis: Axis, theme: Theme, x: number, align: CanvasTextAlign,
  write: (value: number) => string = short,
): void {
  context.font = kFont;
  context.fillStyle = theme.faint;
  context.textAlign = align;
  context.textBaseline = 'middle';
  for (const tick of axis.ticks) context.fillText(write(tick), x, axis.place(tick));
}

export function gridLines(context: CanvasRenderingContext2D, axis: Axis, theme: Theme, box: Box, upright: boolean): void {
  context.strokeStyle = theme.line;
  context.lineWidth = 1;
  context.beginPath();
  for (const tick of axis.ticks) {
    const at = Math.round(axis.place(tick)) + 0.5;
    context.moveTo(upright ? at : box.left, upright ? box.top : at);
    context.lineTo(upright ? at : box.right, upright ? box.bottom : at);
  }
  context.stroke();
}

// Clips lines and areas at the edge of the chart: an axis need not cover all values.
export function clipped(context: CanvasRenderingContext2D, box: Box, draw: () => void): void {
  context.save();
  context.beginPath();
  context.rect(box.left, box.top, box.right - box.left, box.bottom - box.top);
  context.clip();
  draw();
  context.restore();
}

// The steps with non-finite values, to be marked: NaN and infinities in their own colours.
export function badSteps(input: Input): { step: number; nan: boolean; series: number }[] {
  return input.series.flatMap((series, s) =>
    series.steps
      .filter(isBad)
      .map((one) => ({ step: one.step, nan: one.nan > 0, series: s })),
  );
}
