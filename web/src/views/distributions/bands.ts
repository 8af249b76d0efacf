// Percentiles over steps: bands around the median, as in TensorBoard's distributions. A band ends where a recorded step
// has no finite values.
import type { Axis } from './axis';
import type { Theme } from './colours';
import { cursorLine, stepLabels } from './heatmap';
import { nearestStep, percentiles } from './model';
import {
  badSteps, type Box, clipped, gridLines, type Hit, type Input, type Marks, type Plot, sideLabels, stepAxis, valueAxis,
} from './plot';

const kPairs = [[0, 8, 0.12], [1, 7, 0.16], [2, 6, 0.22], [3, 5, 0.3]] as const; // percentiles by place, opacity

export function bands(input: Input): Plot {
  const box: Box = { left: 52, top: 10, right: Math.max(80, input.width - 12), bottom: Math.max(30, input.height - 22) };
  const values = valueAxis(input, box.bottom, box.top);
  const steps = stepAxis(input, box.left, box.right);
  const lines = input.series.map((series) => series.steps.map(percentiles));

  // The nearest recorded step, of the run whose median is nearest.
  function hit(x: number, y: number): Hit | null {
    if (x < box.left - 6 || x > box.right + 6 || y < box.top - 8 || y > box.bottom) return null;
    let found: Hit | null = null;
    let distance = Infinity;
    input.series.forEach((series, s) => {
      const index = nearestStep(series.steps, steps.value(x));
      if (index < 0) return;
      const median = lines[s]![index]![4]!;
      const away = Number.isNaN(median) ? 1e6 : Math.abs(values.place(median) - y);
      if (away < distance) {
        found = { series: s, index, bin: -1 };
        distance = away;
      }
    });
    return found;
  }

  function draw(context: CanvasRenderingContext2D, theme: Theme, marks: Marks): void {
    gridLines(context, values, theme, box, false);
    const each = (draw: (part: Part) => void): void =>
      input.series.forEach((series, s) => {
        const x = series.steps.map((one) => steps.place(one.step));
        for (const [from, to] of parts(lines[s]!)) draw({ colour: series.colour, x, lines: lines[s]!, from, to });
      });
    // Bands of several runs overlap: they are paler then, and all medians are above them.
    const strength = 1 / Math.sqrt(input.series.length);
    clipped(context, box, () => {
      each((part) => drawBands(context, part, values, strength));
      each((part) => drawMedian(context, part, values, theme.ground));
    });
    for (const bad of badSteps(input)) {
      context.fillStyle = bad.nan ? theme.nan : theme.infinity;
      context.fillRect(steps.place(bad.step) - 1, box.top - 6, 3, 5);
    }
    sideLabels(context, values, theme, box.left - 6, 'right');
    stepLabels(context, steps, theme, box);
    cursorLine(context, theme, steps, box, marks.cursor);
    const at = marks.hit && lines[marks.hit.series]?.[marks.hit.index];
    if (!at || !marks.hit) return;
    const x = steps.place(input.series[marks.hit.series]!.steps[marks.hit.index]!.step);
    context.fillStyle = theme.text;
    for (const value of at) if (!Number.isNaN(value)) context.fillRect(x - 3, values.place(value) - 0.5, 6, 1.5);
  }

  return {
    draw,
    hit,
    stepAt: (x, y) => {
      const at = hit(x, y);
      return at && input.series[at.series]!.steps[at.index]!.step;
    },
    across: steps,
  };
}

// Ranges of steps that have values, as [first, last].
export function parts(lines: readonly number[][]): [number, number][] {
  const found: [number, number][] = [];
  lines.forEach((line, i) => {
    if (Number.isNaN(line[4])) return;
    const last = found[found.length - 1];
    if (last && last[1] === i - 1) last[1] = i;
    else found.push([i, i]);
  });
  return found;
}

// A range of steps of one run.
interface Part {
  colour: string;
  x: readonly number[]; // of every step, CSS pixels
  lines: readonly number[][]; // percentiles of every step
  from: number;
  to: number;
}

// A single step has no width: a short bar shows it.
const widening = ({ from, to }: Part): number => (from === to ? 4 : 0);

function drawBands(context: CanvasRenderingContext2D, part: Part, values: Axis, strength: number): void {
  const { x, lines, from, to } = part;
  const wide = widening(part);
  context.fillStyle = part.colour;
  for (const [low, high, alpha] of kPairs) {
    context.globalAlpha = alpha * strength;
    context.beginPath();
    for (let i = from; i <= to; ++i) context.lineTo(x[i]! - wide, values.place(lines[i]![low]!));
    if (wide) context.lineTo(x[to]! + wide, values.place(lines[to]![low]!));
    for (let i = to; i >= from; --i) context.lineTo(x[i]! + wide, values.place(lines[i]![high]!));
    if (wide) context.lineTo(x[from]! - wide, values.place(lines[from]![high]!));
    context.closePath();
    context.fill();
  }
  context.globalAlpha = 1;
}

function drawMedian(context: CanvasRenderingContext2D, part: Part, values: Axis, ground: string): void {
  const { x, lines, from, to } = part;
  const wide = widening(part);
  context.lineJoin = 'round';
  context.beginPath();
  for (let i = from; i <= to; ++i) context.lineTo(x[i]! - wide, values.place(lines[i]![4]!));
  if (wide) context.lineTo(x[to]! + wide, values.place(lines[to]![4]!));
  context.strokeStyle = ground; // an outline, so that it is visible on bands of its own colour
  context.lineWidth = 4;
  context.stroke();
  context.strokeStyle = part.colour;
  context.lineWidth = 2;
  context.stroke();
}
