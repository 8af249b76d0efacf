// Draws a scene with a painter. Pixels are CSS pixels; the caller scales for the screen.
import type { Ink, Painter } from './painter';
import { kFont } from './painter';
import { type Frame, tickText, ticksOf, toPixel } from './scale';
import type { BandShape, Line, Margin, Scene } from './scene';
import { trace } from './trace';

const kTop = 14; // room for the marks' names
const kBottom = 20;
const kRight = 12;
const kLabelHeight = 12;
const kLabelGap = 6; // between two labels of the x axis
export const kLeft = 52; // the same in all charts, so that their axes line up, unless a label needs more
const kDigit = 6.4; // pixels of a character of a label, at most
const kBeside = 12; // pixels that labels keep free

const yTicks = (y: Frame['y']): number[] => ticksOf(y, 'number', Math.max(2, Math.floor(Math.abs(y.from - y.to) / 30)));

export function frameOf(scene: Scene, width: number, height: number): Frame {
  const [top, bottom] = [kTop, Math.max(kTop + 1, height - kBottom)];
  const y = { lo: scene.y[0], hi: scene.y[1], log: scene.logY, from: bottom, to: top };
  const longest = Math.max(0, ...yTicks(y).map((tick) => tickText(tick, 'number', scene.y[1] - scene.y[0]).length));
  const left = Math.round(Math.max(kLeft, Math.min(width / 2, longest * kDigit + kBeside)));
  const right = Math.max(left + 1, width - kRight);
  return {
    left,
    top,
    right,
    bottom,
    x: { lo: scene.x[0], hi: scene.x[1], log: scene.logX, from: left, to: right },
    y,
  };
}

function drawAxes(p: Painter, scene: Scene, frame: Frame, ink: Ink): void {
  p.font = kFont;
  p.lineWidth = 1;
  p.strokeStyle = ink.grid;
  p.fillStyle = ink.muted;
  p.textAlign = 'right';
  p.textBaseline = 'middle';
  p.beginPath();
  let above = Infinity; // position of the last label: on logarithmic axes ticks are crowded
  for (const tick of yTicks(frame.y)) {
    const y = Math.round(toPixel(frame.y, tick)) + 0.5;
    if (above - y < kLabelHeight) continue;
    above = y;
    p.moveTo(frame.left, y);
    p.lineTo(frame.right, y);
    p.fillText(tickText(tick, 'number', scene.y[1] - scene.y[0]), frame.left - 8, y);
  }
  p.stroke();
  p.textAlign = 'center';
  p.textBaseline = 'alphabetic';
  const most = Math.max(2, Math.floor((frame.right - frame.left) / (scene.axis === 'wall' ? 88 : 54)));
  let end = -Infinity;
  for (const tick of ticksOf(frame.x, scene.axis, most)) {
    const x = toPixel(frame.x, tick);
    const text = tickText(tick, scene.axis, scene.x[1] - scene.x[0]);
    const half = text.length * 3;
    if (x < frame.left - 1 || x + half > frame.right + kRight || x - half < end + kLabelGap) continue;
    end = x + half;
    p.fillText(text, x, frame.bottom + 14);
  }
}

const kLine = 1.6;

function drawLine(p: Painter, frame: Frame, line: Line, look: { alpha: number; width: number }): void {
  p.strokeStyle = line.color;
  p.fillStyle = line.color;
  if (line.rawX && line.rawY) {
    p.globalAlpha = 0.28 * look.alpha;
    trace(p, frame, line.rawX, line.rawY, 1);
  }
  p.globalAlpha = look.alpha;
  p.setLineDash(line.dash);
  trace(p, frame, line.x, line.y, look.width);
  p.setLineDash([]);
  if (line.x.length === 1) dot(p, frame, line.x[0] as number, line.y[0] as number, 3);
}

function dot(p: Painter, frame: Frame, x: number, y: number, radius: number): void {
  p.beginPath();
  p.arc(toPixel(frame.x, x), toPixel(frame.y, y), radius, 0, 2 * Math.PI);
  p.fill();
}

function area(
  p: Painter,
  frame: Frame,
  lowX: Float64Array,
  low: Float64Array,
  highX: Float64Array,
  high: Float64Array,
): void {
  const put = (x: number, y: number) => {
    const above = frame.y.log ? Math.max(y, frame.y.lo / 10) : y;
    p.lineTo(toPixel(frame.x, x), Math.max(-1e5, Math.min(1e5, toPixel(frame.y, above))));
  };
  p.beginPath();
  for (let i = 0; i < highX.length; ++i) put(highX[i] as number, high[i] as number);
  for (let i = lowX.length - 1; i >= 0; --i) put(lowX[i] as number, low[i] as number);
  p.closePath();
  p.fill();
}

function drawBand(p: Painter, frame: Frame, band: BandShape): void {
  p.fillStyle = band.color;
  p.globalAlpha = 0.1;
  area(p, frame, band.x, band.min, band.x, band.max);
  p.globalAlpha = 0.22;
  area(p, frame, band.x, band.low, band.x, band.high);
  p.globalAlpha = 1;
  p.strokeStyle = band.color;
  if (band.raw) {
    p.globalAlpha = 0.4;
    trace(p, frame, band.x, band.raw, 1);
    p.globalAlpha = 1;
  }
  trace(p, frame, band.x, band.mean, kLine);
}

function drawMargin(p: Painter, frame: Frame, margin: Margin): void {
  p.fillStyle = margin.color;
  p.globalAlpha = 0.2;
  area(p, frame, margin.lowX, margin.low, margin.highX, margin.high);
  p.globalAlpha = 1;
}

// Marks non-finite values: a line over the whole height at the first, a tick at the top for every column after it.
function drawBad(p: Painter, frame: Frame, lines: Line[], ink: Ink): void {
  const taken: number[] = []; // positions that names occupy
  p.textAlign = 'center';
  p.textBaseline = 'alphabetic';
  p.font = kFont;
  for (const line of lines) {
    for (let i = 0; i < line.bad.x.length; ++i) {
      const x = toPixel(frame.x, line.bad.x[i] as number);
      if (x < frame.left - 1 || x > frame.right + 1) continue;
      const nan = (line.bad.nan[i] as number) > 0;
      p.strokeStyle = nan ? ink.nan : ink.inf;
      p.fillStyle = p.strokeStyle;
      const first = i === 0;
      p.globalAlpha = 1;
      p.lineWidth = first ? 2 : 1;
      p.beginPath();
      p.moveTo(x, frame.top);
      p.lineTo(x, first ? frame.bottom : frame.top + 5);
      p.stroke();
      if (first && taken.every((other) => Math.abs(other - x) > 26)) {
        const text = nan ? 'NaN' : (line.bad.posInf[i] as number) > 0 ? '+Inf' : '\u2212Inf';
        p.fillText(text, Math.max(frame.left + 10, Math.min(frame.right - 10, x)), frame.top - 4);
        taken.push(x);
      }
    }
  }
}

const kUsual = { alpha: 1, width: kLine };
const kStrong = { alpha: 1, width: 1.6 * kLine };
const kFaint = { alpha: 0.22, width: kLine };

// The lines of the run `lit` are drawn last and stronger, the others faintly.
export function draw(p: Painter, scene: Scene, frame: Frame, ink: Ink, lit: string | null = null): void {
  drawAxes(p, scene, frame, ink);
  p.save();
  p.beginPath();
  p.rect(frame.left, frame.top - 2, frame.right - frame.left, frame.bottom - frame.top + 4);
  p.clip();
  for (const margin of scene.margins) drawMargin(p, frame, margin);
  for (const band of scene.bands) drawBand(p, frame, band);
  for (const line of scene.lines) if (lit === null || line.run !== lit) drawLine(p, frame, line, lit === null ? kUsual : kFaint);
  if (lit !== null) for (const line of scene.lines) if (line.run === lit) drawLine(p, frame, line, kStrong);
  p.restore();
  p.globalAlpha = 1;
  drawBad(p, frame, scene.lines, ink);
}

export interface Overlay {
  cursors: { x: number; color: string | null }[]; // units of the x axis; null: the cursor's own colour
  hover: number | null;
  selection: [number, number][];
  drag: [number, number] | null; // the range being marked
  dots: { x: number; y: number; color: string }[];
}

export function drawOverlay(p: Painter, frame: Frame, overlay: Overlay, ink: Ink): void {
  const inside = (x: number) => x >= frame.left - 0.5 && x <= frame.right + 0.5;
  const stretch = ([a, b]: [number, number], color: string, alpha: number) => {
    const from = Math.max(frame.left, toPixel(frame.x, a));
    const to = Math.min(frame.right, toPixel(frame.x, b));
    if (to <= from) return;
    p.globalAlpha = alpha;
    p.fillStyle = color;
    p.fillRect(from, frame.top, to - from, frame.bottom - frame.top);
    p.globalAlpha = 1;
  };
  const upright = (x: number, color: string, width: number, dash: number[]) => {
    if (!inside(x)) return;
    p.strokeStyle = color;
    p.lineWidth = width;
    p.setLineDash(dash);
    p.beginPath();
    p.moveTo(x, frame.top);
    p.lineTo(x, frame.bottom);
    p.stroke();
    p.setLineDash([]);
  };
  for (const one of overlay.selection) stretch(one, ink.accent, 0.12);
  if (overlay.drag) stretch(overlay.drag, ink.text, 0.14);
  for (const { x, color } of overlay.cursors) upright(toPixel(frame.x, x), color ?? ink.cursor, 1.6, []);
  if (overlay.hover !== null) upright(toPixel(frame.x, overlay.hover), ink.muted, 1, [3, 3]);
  for (const one of overlay.dots) {
    const x = toPixel(frame.x, one.x);
    const y = toPixel(frame.y, one.y);
    if (!inside(x) || y < frame.top - 2 || y > frame.bottom + 2) continue;
    p.fillStyle = ink.card;
    p.beginPath();
    p.arc(x, y, 4, 0, 2 * Math.PI);
    p.fill();
    p.fillStyle = one.color;
    p.beginPath();
    p.arc(x, y, 3, 0, 2 * Math.PI);
    p.fill();
  }
}
