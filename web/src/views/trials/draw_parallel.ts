// Parallel coordinates: positions of axes and lines, and drawing.
import { type Ink, kFont } from '../../chart/painter';
import type { Axis } from './axes';

export interface Layout {
  xs: number[]; // of the axes, CSS pixels
  top: number;
  bottom: number;
  off: number; // position of values that have none on their axis
}

export const kHeight = 300;
const kSide = 64; // beside the outer axes
const kLeast = 96; // between two axes

export const widthFor = (axes: number, room: number): number => Math.max(room, 2 * kSide + (axes - 1) * kLeast);

export function layoutOf(axes: number, width: number, height: number): Layout {
  const step = axes > 1 ? (width - 2 * kSide) / (axes - 1) : 0;
  const xs = Array.from({ length: axes }, (_, i) => (axes > 1 ? kSide + i * step : width / 2));
  return { xs, top: 12, bottom: height - 36, off: height - 14 };
}

export const pixelOf = ({ top, bottom, off }: Layout, place: number | null): number => (place === null ? off : bottom - place * (bottom - top));
export const placeAt = ({ top, bottom }: Layout, y: number): number => (bottom - y) / (bottom - top);

// Heights of all trials on all axes, trial by trial.
export function heightsOf(axes: readonly Axis[], count: number, layout: Layout): Float32Array {
  const heights = new Float32Array(axes.length * count);
  axes.forEach((axis, a) => {
    for (let i = 0; i < count; ++i) heights[i * axes.length + a] = pixelOf(layout, axis.place(axis.column.cells[i] ?? null));
  });
  return heights;
}

export function strokeTrial(context: CanvasRenderingContext2D, layout: Layout, heights: Float32Array, trial: number): void {
  const { xs } = layout;
  const from = trial * xs.length;
  context.beginPath();
  context.moveTo(xs[0]!, heights[from]!);
  for (let a = 1; a < xs.length; ++a) context.lineTo(xs[a]!, heights[from + a]!);
  if (xs.length === 1) context.arc(xs[0]!, heights[from]!, 3, 0, 2 * Math.PI);
  context.stroke();
}

// The more lines there are, the fainter each is.
export const alphaFor = (count: number): number => Math.min(0.9, Math.max(0.12, 9 / Math.sqrt(Math.max(1, count))));

// The trial whose line is nearest to the pointer, at most `most` pixels away; -1: none.
export function nearestTrial(layout: Layout, heights: Float32Array, kept: readonly boolean[], x: number, y: number, most: number): number {
  const { xs } = layout;
  const n = xs.length;
  const right = Math.min(Math.max(1, xs.findIndex((at) => at >= x)), n - 1);
  const left = Math.max(0, right - 1);
  const width = (xs[right] ?? 0) - (xs[left] ?? 0);
  const part = width > 0 ? Math.min(1, Math.max(0, (x - xs[left]!) / width)) : 0;
  let found = -1;
  let least = most;
  for (let i = 0; i < kept.length; ++i) {
    if (!kept[i]) continue;
    const a = heights[i * n + left]!;
    const rise = heights[i * n + right]! - a;
    // Distance from the line, not vertically: steep lines would never be hit.
    const distance = Math.abs(a + rise * part - y) / Math.hypot(1, width > 0 ? rise / width : 0);
    if (distance > least) continue;
    least = distance;
    found = i;
  }
  return found;
}

export function drawAxes(context: CanvasRenderingContext2D, layout: Layout, axes: readonly Axis[], ink: Ink): void {
  const { xs, top, bottom, off } = layout;
  context.font = kFont;
  context.textBaseline = 'middle';
  context.textAlign = 'right';
  axes.forEach((axis, a) => {
    const x = Math.round(xs[a]!) + 0.5;
    context.strokeStyle = ink.muted;
    context.lineWidth = 1;
    context.beginPath();
    context.moveTo(x, top);
    context.lineTo(x, bottom);
    context.stroke();
    for (const { at, text } of axis.ticks(Math.max(2, Math.floor((bottom - top) / 34)))) written(context, text, x - 7, pixelOf(layout, at), ink, ink.text);
    if (axis.none === '') return;
    const colour = axis.none === 'NaN/Inf' ? ink.nan : ink.muted;
    context.fillStyle = colour;
    context.fillRect(x - 4, off - 0.5, 8, 1);
    written(context, axis.none, x - 7, off, ink, colour);
  });
}

// Text that is legible over any number of lines.
function written(context: CanvasRenderingContext2D, text: string, x: number, y: number, ink: Ink, colour: string): void {
  context.lineJoin = 'round';
  context.lineWidth = 4;
  context.strokeStyle = ink.card;
  context.strokeText(text, x, y);
  context.fillStyle = colour;
  context.fillText(text, x, y);
}

export function drawBrush(context: CanvasRenderingContext2D, layout: Layout, axis: number, span: readonly [number, number], ink: Ink): void {
  const x = layout.xs[axis]!;
  const y0 = pixelOf(layout, span[1]);
  const y1 = pixelOf(layout, span[0]);
  context.globalAlpha = 0.22;
  context.fillStyle = ink.accent;
  context.fillRect(x - 7, y0, 14, y1 - y0);
  context.globalAlpha = 1;
  context.lineWidth = 1.5;
  context.strokeStyle = ink.accent;
  context.strokeRect(x - 7, y0, 14, y1 - y0);
}

export function drawMarked(context: CanvasRenderingContext2D, layout: Layout, heights: Float32Array, trial: number, ink: Ink): void {
  context.lineJoin = 'round';
  for (const [width, colour] of [[5, ink.card], [2.25, ink.text]] as const) {
    context.lineWidth = width;
    context.strokeStyle = colour;
    strokeTrial(context, layout, heights, trial);
  }
  context.fillStyle = ink.text;
  layout.xs.forEach((x, a) => {
    context.beginPath();
    context.arc(x, heights[trial * layout.xs.length + a]!, 3, 0, 2 * Math.PI);
    context.fill();
  });
}
