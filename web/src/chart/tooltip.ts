// What the lines say at the pointer.
import { compareNames } from '../names';
import { type AxisKind, type Frame, toPixel } from './scale';
import { type Line, type Scene, nearest } from './scene';
import type { TooltipSort } from './settings';

export interface TooltipRow {
  id: string;
  label: string;
  color: string;
  x: number;
  value: number; // as drawn: smoothed where there is smoothing, the mean of a group; NaN or an infinity where there is none
  raw: number | null; // as recorded, where that is not what is drawn
  spread: number | null; // of a group
  step: number;
  time: number;
  far: boolean; // the line has no point near the pointer
}

export interface Tip {
  rows: TooltipRow[];
  axis: AxisKind;
  at: number; // of the pointer, units of the axis
  x: number; // pixels in the chart
}

const kFar = 32; // pixels

type Row = TooltipRow & { away: number };

// Where a value was not finite nothing is drawn, but it was recorded there.
function badRow(line: Line, x: number, distance: number): Omit<Row, 'far'> | null {
  const { bad } = line;
  const i = nearest(bad.x, x);
  if (i < 0 || Math.abs((bad.x[i] as number) - x) > distance) return null;
  const value = (bad.nan[i] as number) > 0 ? NaN : (bad.posInf[i] as number) > 0 ? Infinity : -Infinity;
  return {
    id: line.id,
    label: line.label,
    color: line.color,
    x: bad.x[i] as number,
    value,
    raw: null,
    spread: null,
    step: bad.step[i] as number,
    time: bad.time[i] as number,
    away: Infinity,
  };
}

function lineRow(line: Line, frame: Frame, x: number, py: number): Omit<Row, 'far'> | null {
  const i = nearest(line.x, x);
  const px = line.x[i] ?? NaN;
  const bad = badRow(line, x, i < 0 ? Infinity : Math.abs(px - x));
  if (bad || i < 0) return bad;
  const k = line.rawX ? nearest(line.rawX, px) : -1;
  return {
    id: line.id,
    label: line.label,
    color: line.color,
    x: px,
    value: line.y[i] as number,
    raw: k >= 0 ? (line.rawY?.[k] ?? null) : null,
    spread: null,
    step: line.step[i] as number,
    time: line.time[i] as number,
    away: Math.abs(toPixel(frame.y, line.y[i] as number) - py),
  };
}

// What is not a number comes before all numbers: it is what one wants to know.
const height = (row: TooltipRow) => (Number.isNaN(row.value) ? Infinity : row.value);
const descending = (a: number, b: number) => (a === b ? 0 : a < b ? 1 : -1);

export function rowsAt(scene: Scene, frame: Frame, x: number, py: number, sort: TooltipSort): TooltipRow[] {
  const rows: Row[] = [];
  const at = toPixel(frame.x, x);
  const isFar = (px: number) => Math.abs(toPixel(frame.x, px) - at) > kFar;
  for (const line of scene.lines) {
    const row = lineRow(line, frame, x, py);
    // Beside a mean, lines are there only to say where they were not finite.
    if (row && (line.x.length > 0 || !isFar(row.x))) rows.push({ ...row, far: isFar(row.x) });
  }
  for (const band of scene.bands) {
    const i = nearest(band.x, x);
    if (i < 0) continue;
    const value = band.mean[i] as number;
    rows.push({
      id: band.id,
      label: `${band.label} (mean of ${band.count[i]})`,
      color: band.color,
      x: band.x[i] as number,
      value,
      raw: band.raw?.[i] ?? null,
      spread: (band.high[i] as number) - ((band.raw ?? band.mean)[i] as number),
      step: scene.axis === 'number' ? (band.x[i] as number) : NaN,
      time: NaN,
      far: isFar(band.x[i] as number),
      away: Math.abs(toPixel(frame.y, value) - py),
    });
  }
  const order = {
    value: (a: Row, b: Row) => descending(height(a), height(b)),
    nearest: (a: Row, b: Row) => -descending(a.away, b.away),
    name: (a: Row, b: Row) => compareNames(a.label, b.label),
  }[sort];
  return rows.sort((a, b) => Number(a.far) - Number(b.far) || order(a, b));
}
