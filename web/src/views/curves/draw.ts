// Precision over recall, one line per run.
import { type Ink, kFont } from '../../chart/painter';
import { type Frame, linearTicks, type Scale, tickText, toPixel } from '../../chart/scale';
import type { Point } from './model';

export interface Line {
  run: string;
  colour: string;
  points: readonly Point[];
}

const kRoom = { left: 44, right: 14, top: 10, bottom: 38 };

export function frameOf(width: number, height: number, recall: [number, number], precision: [number, number]): Frame {
  const [left, top, right, bottom] = [kRoom.left, kRoom.top, Math.max(kRoom.left + 1, width - kRoom.right), Math.max(kRoom.top + 1, height - kRoom.bottom)];
  const scale = ([lo, hi]: [number, number], from: number, to: number): Scale => ({ lo, hi, log: false, from, to });
  return { left, top, right, bottom, x: scale(recall, left, right), y: scale(precision, bottom, top) };
}

export const placeOf = (frame: Frame, point: Point): [number, number] => [toPixel(frame.x, point.recall), toPixel(frame.y, point.precision)];

export function draw(context: CanvasRenderingContext2D, frame: Frame, lines: readonly Line[], marked: readonly (Point | null)[], ink: Ink): void {
  drawAxes(context, frame, ink);
  context.save();
  context.beginPath();
  context.rect(frame.left - 4, frame.top - 4, frame.right - frame.left + 8, frame.bottom - frame.top + 8);
  context.clip();
  for (const line of lines) drawLine(context, frame, line);
  marked.forEach((point, i) => {
    if (!point) return;
    const [x, y] = placeOf(frame, point);
    context.beginPath();
    context.arc(x, y, 4.5, 0, 2 * Math.PI);
    context.fillStyle = lines[i]?.colour ?? ink.text;
    context.fill();
    context.lineWidth = 1.5;
    context.strokeStyle = ink.card;
    context.stroke();
  });
  context.restore();
}

function drawLine(context: CanvasRenderingContext2D, frame: Frame, { points, colour }: Line): void {
  context.strokeStyle = colour;
  context.fillStyle = colour;
  context.lineWidth = 1.75;
  context.lineJoin = 'round';
  context.beginPath();
  points.forEach((point, i) => {
    const [x, y] = placeOf(frame, point);
    if (i === 0) context.moveTo(x, y);
    else context.lineTo(x, y);
  });
  context.stroke();
  // Marks the thresholds, as long as they do not touch.
  let last: [number, number] = [-Infinity, -Infinity];
  for (const point of points) {
    const [x, y] = placeOf(frame, point);
    if (Math.hypot(x - last[0], y - last[1]) < 9) continue;
    last = [x, y];
    context.beginPath();
    context.arc(x, y, 2, 0, 2 * Math.PI);
    context.fill();
  }
}

function drawAxes(context: CanvasRenderingContext2D, frame: Frame, ink: Ink): void {
  const { left, right, top, bottom, x, y } = frame;
  context.font = kFont;
  context.lineWidth = 1;
  context.strokeStyle = ink.grid;
  context.fillStyle = ink.muted;
  context.textBaseline = 'middle';
  context.textAlign = 'right';
  for (const tick of linearTicks(y.lo, y.hi, Math.max(2, Math.floor((bottom - top) / 40)))) {
    const at = Math.round(toPixel(y, tick)) + 0.5;
    rule(context, left, at, right, at);
    context.fillText(tickText(tick, 'number', y.hi - y.lo), left - 8, at);
  }
  context.textBaseline = 'top';
  context.textAlign = 'center';
  for (const tick of linearTicks(x.lo, x.hi, Math.max(2, Math.floor((right - left) / 60)))) {
    const at = Math.round(toPixel(x, tick)) + 0.5;
    rule(context, at, top, at, bottom);
    context.fillText(tickText(tick, 'number', x.hi - x.lo), at, bottom + 6);
  }
  context.fillText('recall', (left + right) / 2, bottom + 22);
  context.save();
  context.translate(8, (top + bottom) / 2);
  context.rotate(-Math.PI / 2);
  context.textBaseline = 'middle';
  context.fillText('precision', 0, 0);
  context.restore();
}

function rule(context: CanvasRenderingContext2D, x0: number, y0: number, x1: number, y1: number): void {
  context.beginPath();
  context.moveTo(x0, y0);
  context.lineTo(x1, y1);
  context.stroke();
}
