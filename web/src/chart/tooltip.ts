// What the lines say at the pointer.
import { type Frame, toPixel } from './scale';
import { type Scene, nearest } from './scene';
import type { TooltipSort } from './settings';

export interface TooltipRow {
  id: string;
  label: string;
  color: string;
  x: number;
  value: number;
  raw: number | null;
  step: number;
  time: number;
  far: boolean; // the line has no point near the pointer
}

export interface Tip {
  rows: TooltipRow[];
  x: number; // of the pointer, pixels in the chart
}

const kFar = 32; // pixels

export function rowsAt(scene: Scene, frame: Frame, x: number, py: number, sort: TooltipSort): TooltipRow[] {
  const rows: (TooltipRow & { away: number })[] = [];
  const at = toPixel(frame.x, x);
  for (const line of scene.lines) {
    const i = nearest(line.x, x);
    if (i < 0) continue;
    const px = line.x[i] as number;
    const value = line.y[i] as number;
    const k = line.rawX ? nearest(line.rawX, px) : -1;
    rows.push({
      id: line.id,
      label: line.label,
      color: line.color,
      x: px,
      value,
      raw: k >= 0 ? (line.rawY?.[k] ?? null) : null,
      step: line.step[i] as number,
      time: line.time[i] as number,
      far: Math.abs(toPixel(frame.x, px) - at) > kFar,
      away: Math.abs(toPixel(frame.y, value) - py),
    });
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
      raw: (band.high[i] as number) - value,
      step: scene.axis === 'number' ? (band.x[i] as number) : NaN,
      time: NaN,
      far: Math.abs(toPixel(frame.x, band.x[i] as number) - at) > kFar,
      away: Math.abs(toPixel(frame.y, value) - py),
    });
  }
  const order = {
    value: (a: TooltipRow, b: TooltipRow) => b.value - a.value,
    nearest: (a: { away: number }, b: { away: number }) => a.away - b.away,
    name: (a: TooltipRow, b: TooltipRow) => a.label.localeCompare(b.label, 'en', { numeric: true }),
  }[sort];
  return rows.sort((a, b) => Number(a.far) - Number(b.far) || order(a, b));
}
