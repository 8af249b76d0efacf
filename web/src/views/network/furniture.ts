// What surrounds the cells: axis, marks, spikes and the cursor.
import { integer, short } from '../../ui/format';
import { type Frame, xOf } from './frame';
import type { Mark } from './marks';
import type { Picture } from './paint';

export const kStrip = 14; // above the map, for marks
export const kAxis = 22; // below it

export interface Look {
  text: string;
  muted: string;
  grid: string;
  card: string;
  nan: string;
  accent: string;
  inf: string;
}

export interface Area {
  left: number;
  top: number;
  width: number;
  height: number;
}

type Context = CanvasRenderingContext2D;

// 1, 2 or 5 times a power of ten, never less than one step.
export function tickDistance(steps: number, most: number): number {
  const rough = Math.max(1, steps / Math.max(1, most));
  const power = 10 ** Math.floor(Math.log10(rough));
  return [1, 2, 5, 10].map((n) => n * power).find((n) => n >= rough) ?? 10 * power;
}

export function drawAxis(context: Context, frame: Frame, area: Area, look: Look): void {
  const distance = tickDistance(frame.hi - frame.lo, area.width / 90);
  context.font = '11px system-ui, sans-serif';
  context.textAlign = 'center';
  context.textBaseline = 'middle';
  for (let step = Math.ceil(frame.lo / distance) * distance; step < frame.hi; step += distance) {
    const x = area.left + xOf(frame, step);
    context.fillStyle = look.muted;
    context.fillRect(Math.round(x), area.top + area.height + 2, 1, 3);
    const text = distance >= 1000 ? short(step) : integer(step);
    const half = context.measureText(text).width / 2;
    if (x - half > area.left - 4 && x + half < area.left + area.width + 4) context.fillText(text, x, area.top + area.height + 13);
  }
}

const kMarkColours = { bad: 'nan', capture: 'accent', other: 'inf' } as const;

// Above the cells and not over them: a mark must not change the colour of the value that it points to.
export function drawMarks(context: Context, marks: readonly Mark[], frame: Frame, area: Area, look: Look): void {
  for (const mark of marks) {
    const x = area.left + xOf(frame, mark.step);
    if (x < area.left || x > area.left + area.width) continue;
    context.fillStyle = look[kMarkColours[mark.kind]];
    context.beginPath();
    context.moveTo(x - 5, 2);
    context.lineTo(x + 5, 2);
    context.lineTo(x, area.top - 2);
    context.fill();
  }
}

// A small arrow in the cell where a row first leaves its past; a dot if the rows are thin.
export function drawSpikes(context: Context, picture: Picture, left: number, up: number, cellWidth: number, rowHeight: number, dark: boolean): void {
  const thin = rowHeight < 9;
  const size = thin ? Math.max(1.5, Math.min(3, rowHeight)) : 6;
  for (const { row, cell, up: above } of picture.spikes) {
    const x = left + (cell - picture.firstCell + 0.5) * cellWidth;
    const y = up + (row + 0.5) * rowHeight;
    context.fillStyle = dark ? '#ffffff' : '#000000';
    context.strokeStyle = dark ? '#000000' : '#ffffff';
    if (thin) {
      context.fillRect(x - size / 2, y - size / 2, size, size);
      continue;
    }
    const tip = above ? -size / 2 : size / 2;
    context.beginPath();
    context.moveTo(x, y + tip);
    context.lineTo(x - size / 2, y - tip);
    context.lineTo(x + size / 2, y - tip);
    context.closePath();
    context.lineWidth = 1.5;
    context.stroke();
    context.fill();
  }
}

export function drawCursor(
  context: Context, frame: Frame, area: Area, look: Look, step: number, row: { top: number; height: number } | null, cell: number,
): void {
  const x = area.left + xOf(frame, step + 0.5);
  if (x >= area.left && x <= area.left + area.width) {
    context.fillStyle = look.text;
    context.fillRect(Math.round(x) - 0.5, area.top, 1, area.height + 4);
  }
  if (!row || row.top + row.height < area.top || row.top > area.top + area.height) return;
  const first = Math.floor(step / cell) * cell;
  const from = Math.max(area.left, area.left + xOf(frame, first));
  const to = Math.min(area.left + area.width, area.left + xOf(frame, first + cell));
  context.strokeStyle = look.text;
  context.lineWidth = 1;
  context.globalAlpha = 0.45;
  context.strokeRect(area.left + 0.5, row.top - 0.5, area.width - 1, row.height + 1);
  context.globalAlpha = 1;
  context.lineWidth = 2;
  if (to > from) context.strokeRect(from - 1, row.top - 1, Math.max(4, to - from) + 2, Math.max(4, row.height) + 2);
}
