// One ridge per step, the newest in front: value to the right, steps downwards, each at its true position.
import { short } from '../../ui/format';
import type { Axis } from './axis';
import { stepColour, type Theme } from './colours';
import { binAt } from './model';
import {
  badSteps, type Box, current, gridLines, type Hit, type Input, type Marks, type Plot, type Shape, shapes, sideLabels,
  stepAxis, valueAxis, valueLabels,
} from './plot';

const kLabels = 46; // room for the steps on the right

export function ridgeline(input: Input): Plot {
  const box: Box = { left: 8, top: 6, right: Math.max(40, input.width - kLabels), bottom: Math.max(30, input.height - 22) };
  const values = valueAxis(input, box.left, box.right);
  const all = shapes(input, values);
  const alone = input.steps[0] === input.steps[1];
  const tall = alone ? box.bottom - box.top : Math.max(18, (box.bottom - box.top) * 0.38);
  const steps = alone ? stepAxis(input, box.bottom - 1, box.bottom) : stepAxis(input, box.top + tall, box.bottom);

  const baseline = (shape: Shape): number => (alone ? box.bottom : steps.place(shape.of.step));

  function pointer(x: number, y: number): Shape | null {
    if (x < box.left || x > box.right || y < box.top - 4 || y > box.bottom + 4) return null;
    const column = Math.min(Math.floor(x - box.left), Math.round(box.right - box.left) - 1);
    for (let i = all.length - 1; i >= 0; --i) {
      const shape = all[i]!;
      const base = baseline(shape);
      const high = Math.max(3, heightAt(shape, column, tall));
      if (y <= base + 2 && y >= base - high) return shape;
    }
    return nearest(all, y, baseline);
  }

  return {
    draw: (context, theme, marks) => draw(context, theme, marks, { input, box, values, steps, all, tall, alone, baseline }),
    hit: (x, y) => {
      const shape = pointer(x, y);
      return shape && toHit(shape, values, x);
    },
    stepAt: (x, y) => pointer(x, y)?.of.step ?? null,
    across: null,
  };
}

interface Layout {
  input: Input;
  box: Box;
  values: Axis;
  steps: Axis;
  all: Shape[];
  tall: number;
  alone: boolean;
  baseline: (shape: Shape) => number;
}

export function heightAt(shape: Shape, column: number, tall: number): number {
  const { mass, spike } = shape.profile;
  const n = Math.max(mass[column] ?? 0, spike[column] ?? 0);
  return Math.min(1, n / shape.peak) * tall;
}

function nearest(all: readonly Shape[], y: number, baseline: (shape: Shape) => number): Shape | null {
  let found: Shape | null = null;
  let distance = 8; // pixels: the largest distance for a hit
  for (const shape of all) {
    const away = Math.abs(baseline(shape) - y);
    if (away <= distance) {
      found = shape;
      distance = away;
    }
  }
  return found;
}

export function toHit(shape: Shape, values: Axis, x: number): Hit {
  const near = Math.abs(values.value(x + 3) - values.value(x - 3)) / 2;
  return { series: shape.series, index: shape.index, bin: binAt(shape.of, values.value(x), near) };
}

function draw(context: CanvasRenderingContext2D, theme: Theme, marks: Marks, layout: Layout): void {
  const { input, box, values, steps, all, tall, alone, baseline } = layout;
  gridLines(context, values, theme, box, true);
  const bySteps = input.series.length === 1;
  const chosen = current(input, marks.cursor);
  context.lineJoin = 'round';
  all.forEach((shape, order) => {
    const isCurrent = chosen.get(shape.series) === shape.index;
    const isHit = marks.hit?.series === shape.series && marks.hit.index === shape.index;
    const colour = bySteps ? stepColour(order, all.length, theme.dark) : input.series[shape.series]!.colour;
    ridge(context, shape, box.left, baseline(shape), tall);
    context.globalAlpha = bySteps ? 0.86 : 0.12; // overlaid runs: the one behind is visible through the one in front
    context.fillStyle = colour;
    context.fill();
    context.globalAlpha = 1;
    outline(context, shape, box.left, baseline(shape), tall);
    context.strokeStyle = isHit || isCurrent ? theme.cursor : bySteps ? theme.ground : colour;
    context.lineWidth = isHit ? 2 : isCurrent ? 1.5 : bySteps ? 0.75 : 1;
    context.stroke();
    spikes(context, shape, box.left, baseline(shape), tall, isHit || isCurrent ? theme.cursor : colour);
  });
  valueLabels(context, values, theme, box);
  if (!alone) sideLabels(context, steps, theme, box.right + 8, 'left');
  else if (all[0]) sideLabels(context, { ...steps, ticks: [steps.low] }, theme, box.right + 8, 'left', () => short(all[0]!.of.step));
  for (const bad of badSteps(input)) {
    context.fillStyle = bad.nan ? theme.nan : theme.infinity;
    context.fillRect(box.right, (alone ? box.bottom : steps.place(bad.step)) - 2, 5, 3);
  }
}

// Columns are drawn as steps: the data has no slope between two bins.
function ridge(context: CanvasRenderingContext2D, shape: Shape, left: number, base: number, tall: number): void {
  const { mass } = shape.profile;
  context.beginPath();
  context.moveTo(left, base);
  trace(context, mass, shape.peak, left, base, tall);
  context.lineTo(left + mass.length, base);
  context.closePath();
}

function outline(context: CanvasRenderingContext2D, shape: Shape, left: number, base: number, tall: number): void {
  const { mass, spike } = shape.profile;
  const filled = (i: number): boolean => mass[i]! > 0 || spike[i]! > 0;
  let first = 0;
  let last = mass.length - 1;
  while (first < last && !filled(first)) ++first;
  while (last > first && !filled(last)) --last;
  context.beginPath();
  if (!filled(first)) return; // nothing finite
  context.moveTo(left + first, base);
  trace(context, mass, shape.peak, left, base, tall, first, last);
  context.lineTo(left + last + 1, base);
}

export function trace(
  context: CanvasRenderingContext2D, mass: Float64Array, peak: number, left: number, base: number, tall: number,
  first = 0, last = mass.length - 1,
): void {
  let before = NaN;
  for (let i = first; i <= last; ++i) {
    const y = base - Math.min(1, mass[i]! / peak) * tall;
    if (y === before) continue; // one corner at each edge of a bin
    if (!Number.isNaN(before)) context.lineTo(left + i, before);
    context.lineTo(left + i, y);
    before = y;
  }
  if (!Number.isNaN(before)) context.lineTo(left + last + 1, before);
}

export function spikes(
  context: CanvasRenderingContext2D, shape: Shape, left: number, base: number, tall: number, colour: string,
): void {
  const { spike } = shape.profile;
  context.strokeStyle = colour;
  context.lineWidth = 1.5;
  context.beginPath();
  for (let i = 0; i < spike.length; ++i) {
    if (spike[i] === 0) continue;
    context.moveTo(left + i + 0.5, base);
    context.lineTo(left + i + 0.5, base - Math.max(2, Math.min(1, spike[i]! / shape.peak) * tall));
  }
  context.stroke();
}
