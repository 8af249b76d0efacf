// Statistics that were recorded without a histogram: from the smallest to the largest value, one standard deviation
// around the mean, and the mean. It shows only what they contain.
import type { Theme } from './colours';
import { cursorLine, stepLabels } from './heatmap';
import { nearestStep } from './model';
import {
  type Box, clipped, gridLines, type Hit, type Input, type Marks, type Plot, sideLabels, stepAxis, valueAxis,
} from './plot';

export interface Range {
  step: number;
  time: number;
  count: number;
  min: number; // NaN if nothing was finite, like the following
  max: number;
  mean: number;
  std: number;
  zeros: number;
  nan: number;
  positiveInfinity: number;
  negativeInfinity: number;
}

export function ranges(input: Input, all: readonly Range[], colour: string): Plot {
  const box: Box = { left: 52, top: 10, right: Math.max(80, input.width - 12), bottom: Math.max(30, input.height - 22) };
  const values = valueAxis(input, box.bottom, box.top);
  const steps = stepAxis(input, box.left, box.right);

  function hit(x: number, y: number): Hit | null {
    if (x < box.left - 6 || x > box.right + 6 || y < box.top - 8 || y > box.bottom) return null;
    const index = nearestStep(all, steps.value(x));
    return index < 0 ? null : { series: 0, index, bin: -1 };
  }

  function area(context: CanvasRenderingContext2D, part: readonly Range[], low: (r: Range) => number, high: (r: Range) => number): void {
    const wide = part.length === 1 ? 4 : 0; // a single step has no width
    context.beginPath();
    for (const one of part) context.lineTo(steps.place(one.step) - wide, values.place(low(one)));
    for (const one of [...part].reverse()) context.lineTo(steps.place(one.step) + wide, values.place(high(one)));
    context.closePath();
    context.fill();
  }

  function draw(context: CanvasRenderingContext2D, theme: Theme, marks: Marks): void {
    gridLines(context, values, theme, box, false);
    clipped(context, box, () => {
      context.fillStyle = colour;
      context.strokeStyle = colour;
      context.lineWidth = 1.75;
      for (const part of finiteParts(all)) {
        context.globalAlpha = 0.15;
        area(context, part, (r) => r.min, (r) => r.max);
        context.globalAlpha = 0.35;
        area(context, part, (r) => Math.max(r.min, r.mean - r.std), (r) => Math.min(r.max, r.mean + r.std));
        context.globalAlpha = 1;
        context.beginPath();
        for (const one of part) context.lineTo(steps.place(one.step), values.place(one.mean));
        context.stroke();
      }
    });
    for (const one of all) {
      if (one.nan + one.positiveInfinity + one.negativeInfinity === 0) continue;
      context.fillStyle = one.nan > 0 ? theme.nan : theme.infinity;
      context.fillRect(steps.place(one.step) - 1, box.top - 6, 3, 5);
    }
    sideLabels(context, values, theme, box.left - 6, 'right');
    stepLabels(context, steps, theme, box);
    cursorLine(context, theme, steps, box, marks.cursor);
    const at = marks.hit && all[marks.hit.index];
    if (!at || Number.isNaN(at.mean)) return;
    context.fillStyle = theme.text;
    for (const value of [at.min, at.mean, at.max]) context.fillRect(steps.place(at.step) - 3, values.place(value) - 0.5, 6, 1.5);
  }

  return { draw, hit, stepAt: (x, y) => (hit(x, y) ? all[hit(x, y)!.index]!.step : null), across: steps };
}

export function finiteParts(all: readonly Range[]): Range[][] {
  const parts: Range[][] = [];
  let open = false;
  for (const one of all) {
    const finite = Number.isFinite(one.mean) && Number.isFinite(one.min) && Number.isFinite(one.max);
    if (finite && open) parts[parts.length - 1]!.push(one);
    else if (finite) parts.push([one]);
    open = finite;
  }
  return parts;
}
