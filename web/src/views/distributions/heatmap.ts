// Steps to the right, values upwards, density as colour. A cell is a bin of the file between its true edges; a step's
// column reaches half way to its neighbours, but no farther than usual: a pause in the recording stays empty.
import { short } from '../../ui/format';
import type { Axis } from './axis';
import { viridisAt } from '../../viridis';
import type { Theme } from './colours';
import { binAt, type Distribution } from './model';
import {
  badSteps, type Box, commonShare, gridLines, type Hit, type Input, type Marks, type Plot, sideLabels, stepAxis, valueAxis,
} from './plot';
import { peak, profile } from './profile';

export interface Column {
  from: number; // CSS pixels
  to: number;
}

export function columns(steps: readonly { step: number }[], axis: Axis): Column[] {
  const gaps = steps.slice(1).map((one, i) => one.step - steps[i]!.step);
  const usual = [...gaps].sort((a, b) => a - b)[gaps.length >> 1];
  const reach = usual === undefined ? Infinity : usual * 0.75;
  return steps.map(({ step }, i) => {
    const before = i > 0 ? gaps[i - 1]! / 2 : (gaps[0] ?? Infinity) / 2;
    const after = i < gaps.length ? gaps[i]! / 2 : (gaps[gaps.length - 1] ?? Infinity) / 2;
    const place = (at: number): number => Math.min(axis.to, Math.max(axis.from, axis.place(at)));
    return { from: place(step - Math.min(before, reach)), to: place(step + Math.min(after, reach)) };
  });
}

const kDecades = 3; // cells a thousand times rarer than the densest have the darkest colour

// 0 to 1, NaN for an empty cell: nothing is drawn there.
export function level(mass: number, densest: number): number {
  return mass > 0 ? Math.min(1, Math.max(0, 1 + Math.log10(mass / densest) / kDecades)) : NaN;
}

export function heatmap(input: Input): Plot {
  const box: Box = { left: 52, top: 10, right: Math.max(80, input.width - 10), bottom: Math.max(30, input.height - 22) };
  const values = valueAxis(input, box.bottom, box.top);
  const half = usualHalf(input);
  const wide: Input = { ...input, steps: [input.steps[0] - half, input.steps[1] + half] };
  const bare = stepAxis(wide, box.left, box.right);
  const steps: Axis = { ...bare, ticks: bare.ticks.filter((t) => t >= input.steps[0] && t <= input.steps[1]) };
  if (steps.ticks.length === 0) steps.ticks = [input.steps[0]];
  const cells = input.series.map((series) => columns(series.steps, steps));
  let image: HTMLCanvasElement | null = null;

  function pointer(x: number): { series: number; index: number; of: Distribution } | null {
    for (let s = 0; s < cells.length; ++s) {
      const index = cells[s]!.findIndex((cell) => x >= cell.from && x < cell.to);
      if (index >= 0) return { series: s, index, of: input.series[s]!.steps[index]! };
    }
    return null;
  }

  function hit(x: number, y: number): Hit | null {
    if (y < box.top - 8 || y > box.bottom) return null;
    const at = pointer(x);
    if (!at) return null;
    const near = Math.abs(values.value(y + 3) - values.value(y - 3)) / 2;
    return { series: at.series, index: at.index, bin: binAt(at.of, values.value(y), near) };
  }

  function draw(context: CanvasRenderingContext2D, theme: Theme, marks: Marks): void {
    gridLines(context, values, theme, box, false);
    const density = context.getTransform().a || 1;
    image ??= paint(input, cells, box, values, density);
    context.drawImage(image, box.left, box.top, box.right - box.left, box.bottom - box.top);
    strip(context, theme, input, cells, box.top - 6);
    sideLabels(context, values, theme, box.left - 6, 'right');
    stepLabels(context, steps, theme, box);
    cursorLine(context, theme, steps, box, marks.cursor);
    outlineCell(context, theme, marks.hit, input, cells, values);
  }

  return { draw, hit, stepAt: (x, y) => (hit(x, y) ? pointer(x)!.of.step : null), across: steps };
}

function usualHalf(input: Input): number {
  const gaps = input.series.flatMap(({ steps }) => steps.slice(1).map((one, i) => one.step - steps[i]!.step));
  gaps.sort((a, b) => a - b);
  return (gaps[gaps.length >> 1] ?? 1) / 2;
}

function paint(input: Input, cells: Column[][], box: Box, values: Axis, density: number): HTMLCanvasElement {
  const width = Math.max(1, Math.round((box.right - box.left) * density));
  const rows = Math.max(1, Math.round((box.bottom - box.top) * density));
  const canvas = document.createElement('canvas');
  canvas.width = width;
  canvas.height = rows;
  const context = canvas.getContext('2d');
  if (!context) return canvas;
  const image = context.createImageData(width, rows);
  const made = input.series.map(({ steps }) => steps.map((one) => profile(one, values, rows)));
  const common = commonShare(input, values, rows);
  made.forEach((profiles, s) =>
    profiles.forEach((shape, i) => {
      const cell = cells[s]![i]!;
      const from = Math.max(0, Math.round((cell.from - box.left) * density));
      const to = Math.min(width, Math.max(from + 1, Math.round((cell.to - box.left) * density)));
      const densest = input.heights === 'each' ? peak(shape) : common * input.series[s]!.steps[i]!.total;
      for (let row = 0; row < rows; ++row) {
        const mass = Math.max(shape.mass[row]!, shape.spike[row]!, shape.spike[row - 1] ?? 0); // single values: two pixels
        fill(image, row, from, to, level(mass, densest));
      }
    }),
  );
  context.putImageData(image, 0, 0);
  return canvas;
}

function fill(image: ImageData, row: number, from: number, to: number, t: number): void {
  if (Number.isNaN(t)) return;
  const [r, g, b] = viridisAt(t);
  for (let x = from, at = (row * image.width + from) * 4; x < to; ++x, at += 4) {
    image.data[at] = r;
    image.data[at + 1] = g;
    image.data[at + 2] = b;
    image.data[at + 3] = 255;
  }
}

// Marks non-finite values above the cells.
function strip(context: CanvasRenderingContext2D, theme: Theme, input: Input, cells: Column[][], y: number): void {
  for (const bad of badSteps(input)) {
    const index = input.series[bad.series]!.steps.findIndex((one) => one.step === bad.step);
    const cell = cells[bad.series]![index]!;
    context.fillStyle = bad.nan ? theme.nan : theme.infinity;
    context.fillRect(cell.from, y, Math.max(2, cell.to - cell.from), 4);
  }
}

function outlineCell(
  context: CanvasRenderingContext2D, theme: Theme, hit: Hit | null, input: Input, cells: Column[][], values: Axis,
): void {
  const of = hit && input.series[hit.series]?.steps[hit.index];
  if (!of || hit.bin < 0) return;
  const cell = cells[hit.series]![hit.index]!;
  const top = values.place(of.right[hit.bin]!);
  const bottom = values.place(of.left[hit.bin]!);
  context.strokeStyle = theme.cursor;
  context.lineWidth = 1.5;
  context.strokeRect(cell.from, top - 0.5, Math.max(2, cell.to - cell.from), Math.max(2, bottom - top) + 1);
}

export function stepLabels(context: CanvasRenderingContext2D, steps: Axis, theme: Theme, box: Box): void {
  context.fillStyle = theme.faint;
  context.textAlign = 'center';
  context.textBaseline = 'top';
  for (const tick of steps.ticks) {
    const x = Math.min(box.right - 8, Math.max(box.left + 8, steps.place(tick)));
    context.fillText(short(tick), x, box.bottom + 6);
  }
}

export function cursorLine(context: CanvasRenderingContext2D, theme: Theme, steps: Axis, box: Box, cursor: number | null): void {
  if (cursor === null || cursor < steps.low || cursor > steps.high) return;
  const x = Math.round(steps.place(cursor)) + 0.5;
  context.strokeStyle = theme.cursor;
  context.lineWidth = 1.5;
  context.beginPath();
  context.moveTo(x, box.top - 4);
  context.lineTo(x, box.bottom);
  context.stroke();
}
