// One column against another.
import { type Ink, kFont } from '../../chart/painter';
import type { Axis, Tick } from './axes';

export interface Frame {
  left: number;
  right: number;
  top: number;
  bottom: number;
}

const kRoom = 0.04; // margin inside the frame, so that no point is on its edge
const kMany = 2000; // above this number points are small squares, which are drawn faster

export const frameOf = (width: number, height: number): Frame => ({ left: 62, right: Math.max(63, width - 12), top: 10, bottom: Math.max(11, height - 26) });

const within = (from: number, to: number, place: number): number => from + (kRoom + place * (1 - 2 * kRoom)) * (to - from);

// Positions of the trials, x and y alternating; NaN: it has no position on an axis.
export function placesOf(x: Axis, y: Axis, count: number, frame: Frame): Float32Array {
  const places = new Float32Array(2 * count).fill(NaN);
  for (let i = 0; i < count; ++i) {
    const px = x.place(x.column.cells[i] ?? null);
    const py = y.place(y.column.cells[i] ?? null);
    if (px === null || py === null) continue;
    places[2 * i] = within(frame.left, frame.right, px);
    places[2 * i + 1] = within(frame.bottom, frame.top, py);
  }
  return places;
}

export function nearestPoint(places: Float32Array, kept: readonly boolean[], x: number, y: number, most: number): number {
  let found = -1;
  let least = most * most;
  for (let i = 0; i < kept.length; ++i) {
    if (!kept[i]) continue;
    const distance = (places[2 * i]! - x) ** 2 + (places[2 * i + 1]! - y) ** 2;
    if (distance > least || Number.isNaN(distance)) continue;
    least = distance;
    found = i;
  }
  return found;
}

export function drawFrame(context: CanvasRenderingContext2D, frame: Frame, x: Axis, y: Axis, ink: Ink): void {
  const { left, right, top, bottom } = frame;
  context.font = kFont;
  context.strokeStyle = ink.grid;
  context.fillStyle = ink.muted;
  context.lineWidth = 1;
  const rule = (x0: number, y0: number, x1: number, y1: number): void => {
    context.beginPath();
    context.moveTo(x0, y0);
    context.lineTo(x1, y1);
    context.stroke();
  };
  context.textAlign = 'center';
  context.textBaseline = 'top';
  for (const { at, text } of fewer(x.ticks(Math.max(2, Math.floor((right - left) / 70))))) {
    const px = Math.round(within(left, right, at)) + 0.5;
    rule(px, top, px, bottom);
    context.fillText(text, px, bottom + 7);
  }
  context.textAlign = 'right';
  context.textBaseline = 'middle';
  for (const { at, text } of y.ticks(Math.max(2, Math.floor((bottom - top) / 40)))) {
    const py = Math.round(within(bottom, top, at)) + 0.5;
    rule(left, py, right, py);
    context.fillText(text, left - 8, py);
  }
}

// A logarithmic axis may have more ticks than requested.
const fewer = (ticks: Tick[]): Tick[] => (ticks.length > 12 ? ticks.filter((_, i) => i % 2 === 0) : ticks);

export function drawPoints(
  context: CanvasRenderingContext2D, places: Float32Array, kept: readonly boolean[], colours: readonly string[], ink: Ink, radius = 4,
): void {
  const many = kept.length > kMany;
  const dot = (i: number): void => {
    const x = places[2 * i]!;
    const y = places[2 * i + 1]!;
    if (Number.isNaN(x)) return;
    if (many) return context.fillRect(x - 1.5, y - 1.5, 3, 3);
    context.beginPath();
    context.arc(x, y, radius, 0, 2 * Math.PI);
    context.fill();
  };
  context.globalAlpha = many ? 0.1 : 0.25;
  context.fillStyle = ink.muted;
  for (let i = 0; i < kept.length; ++i) if (!kept[i]) dot(i);
  context.globalAlpha = many ? 0.7 : 0.9;
  for (let i = 0; i < kept.length; ++i) {
    if (!kept[i]) continue;
    context.fillStyle = colours[i]!;
    dot(i);
  }
  context.globalAlpha = 1;
}

export function drawMarkedPoint(context: CanvasRenderingContext2D, places: Float32Array, trial: number, ink: Ink): void {
  if (Number.isNaN(places[2 * trial]!)) return;
  context.beginPath();
  context.arc(places[2 * trial]!, places[2 * trial + 1]!, 6.5, 0, 2 * Math.PI);
  context.lineWidth = 2;
  context.strokeStyle = ink.text;
  context.stroke();
}
