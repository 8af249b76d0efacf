// The content of a chart's tooltip: the recorded values at one step, and those of the smoothed lines. Charts hold only
// some points of a long series, so the values are requested: `questionAt` builds the request, `rowsOf` builds rows from
// the answer.
import { num } from '../api';
import type { SeriesKey, TableRow } from '../api_types';
import { lastStepOf } from '../headline';
import { compareNames } from '../names';
import { type GroupSpec, bandId } from './build';
import { groupRow, reached } from './group_rows';
import type { Lines } from './lines';
import { type AxisKind, type Frame, toPixel } from './scale';
import { type Line, type Scene, nearest } from './scene';
import type { TooltipSort } from './settings';

export interface TooltipRow {
  id: string;
  label: string;
  color: string;
  x: number;
  value: number; // as recorded, or the mean of a group; may be NaN or an infinity
  smoothed: number | null; // null: no smoothing, or the value is not finite
  spread: number | null; // of a group
  steps: readonly [number, number] | null; // of the point, or of the points of a group; null if not known
  time: number;
  far: boolean; // the point is not near the pointer
  away: number; // pixels from the pointer, vertically
}

export interface Tip {
  rows: TooltipRow[];
  axis: AxisKind;
  step: number | null; // of all rows without their own; null on a time axis
  at: number; // of the pointer, units of the axis
  x: number; // pixels in the chart
  error: string | null;
}

export interface Question {
  key: string;
  step: number | null; // null on a time axis: each series has its own
  smooth: number; // weight; 0: none
  series: SeriesKey[];
}

const kFar = 32; // pixels
const kNear = 4; // pixels within which a line with fewer points is preferred
const kMost = 1000; // series that the server accepts at once
const kMostBad = 5; // runs of a mean that are named because they are not finite

// Recorded points: those drawn for lines; for a mean the pixel columns whose points are all at one step.
function* placesOf(scene: Scene): Generator<Float64Array> {
  for (const line of scene.lines) {
    yield line.rawX ?? line.x;
    yield line.bad.x;
  }
  for (const band of scene.bands) yield band.x;
}

// The recorded step nearest to the pointer at `x`. Within a few pixels the line with the fewest points decides, since
// the others probably have a point there, too.
export function stepNear(scene: Scene, frame: Frame, x: number): number | null {
  const pixel = toPixel(frame.x, x);
  let found: { at: number; distance: number; points: number } | null = null;
  for (const xs of placesOf(scene)) {
    const at = xs[nearest(xs, x)];
    if (at === undefined) continue;
    const distance = Math.abs(toPixel(frame.x, at) - pixel);
    const both = found !== null && distance <= kNear && found.distance <= kNear;
    if (found === null || (both ? xs.length < found.points : distance < found.distance))
      found = { at, distance, points: xs.length };
  }
  return found === null ? null : Math.floor(found.at);
}

// The step of the line's drawn point that is nearest in time.
function stepInTime(line: Line, x: number): number | null {
  const [i, k] = [nearest(line.x, x), nearest(line.bad.x, x)];
  if (i < 0 && k < 0) return null;
  const [good, bad] = [line.x[i] ?? NaN, line.bad.x[k] ?? NaN];
  const isBad = i < 0 || Math.abs(bad - x) < Math.abs(good - x);
  return (isBad ? line.bad.step[k] : line.step[i]) ?? null;
}

// Null if nothing has to be requested: a mean over time is that of a drawn pixel column.
export function questionAt(
  scene: Scene,
  frame: Frame,
  x: number,
  { lines, groups }: Pick<Lines, 'lines' | 'groups'>,
  interval: number | undefined,
  smooth: number,
): Question | null {
  const own = interval === undefined || smooth <= 0 ? {} : { interval };
  let step: number | null = null;
  let series: SeriesKey[];
  if (scene.axis === 'number') {
    step = stepNear(scene, frame, x);
    if (step === null) return null;
    const all = [...lines, ...groups.flatMap(({ tag, runs }) => runs.map((run) => ({ run, tag })))];
    series = all.map(({ run, tag }) => ({ run, tag, ...own }));
  } else {
    series = scene.lines.flatMap((line) => {
      const at = line.x.length > 0 ? stepInTime(line, x) : null;
      return at === null ? [] : [{ run: line.run, tag: line.tag, step: at, ...own }];
    });
  }
  series = series.slice(0, kMost);
  return series.length === 0 ? null : { key: JSON.stringify([step, smooth, series]), step, smooth, series };
}

type Row = TooltipRow & { away: number };

interface Pointer {
  x: number; // units of the axis
  py: number; // pixels
}

const distance = (frame: Frame, y: number, py: number) =>
  Number.isFinite(y) ? Math.abs(toPixel(frame.y, y) - py) : Infinity;

const placeOf = (axis: AxisKind, row: TableRow): number =>
  axis === 'number' ? row.step : axis === 'wall' ? row.time : row.relative;

function rowOf(what: Pick<Line, 'id' | 'label' | 'color'>, row: TableRow, scene: Scene, smooth: number): Omit<Row, 'far' | 'away'> {
  const value = num(row.value);
  return {
    id: what.id,
    label: what.label,
    color: what.color,
    x: placeOf(scene.axis, row),
    value,
    smoothed: smooth > 0 && Number.isFinite(value) ? num(row.smoothed) : null,
    spread: null,
    steps: [row.step, row.step],
    time: row.time,
  };
}

// The mean of a group's runs at a step, and the runs that are not finite there.
function groupRows(group: GroupSpec, rows: readonly TableRow[], step: number, scene: Scene, smooth: number): Omit<Row, 'far' | 'away'>[] {
  const begun = rows.filter((row) => row.step <= step);
  const there = reached(begun, lastStepOf, step);
  const mean = groupRow(there);
  const steps = there.filter((row) => Number.isFinite(num(row.value))).map((row) => row.step);
  const made: Omit<Row, 'far' | 'away'>[] = rows
    .filter((row) => row.count > 0 && row.step === step && !Number.isFinite(num(row.value)))
    .slice(0, kMostBad)
    .map((row) => rowOf({ id: `${row.run}\n${row.tag}`, label: row.run, color: group.color }, row, scene, smooth));
  if (mean)
    made.push({
      id: bandId(group),
      label: `${group.label} (mean of ${mean.runs})`,
      color: group.color,
      x: Math.max(...steps),
      value: mean.value,
      smoothed: smooth > 0 ? mean.smoothed : null,
      spread: mean.std,
      steps: [Math.min(...steps), Math.max(...steps)],
      time: NaN,
    });
  return made;
}

// The pixel columns of means over time, which are not requested.
function bandRows(scene: Scene, x: number): Omit<Row, 'far' | 'away'>[] {
  return scene.bands.flatMap((band) => {
    const i = nearest(band.x, x);
    if (i < 0) return [];
    return [
      {
        id: band.id,
        label: `${band.label} (mean of ${band.count[i]})`,
        color: band.color,
        x: band.x[i] as number,
        value: (band.raw ?? band.mean)[i] as number,
        smoothed: band.raw ? (band.mean[i] as number) : null,
        spread: (band.high[i] as number) - ((band.raw ?? band.mean)[i] as number),
        steps: null,
        time: NaN,
      },
    ];
  });
}

// Non-finite values come before all numbers: they matter most.
const height = (row: TooltipRow) => (Number.isNaN(row.value) ? Infinity : (row.smoothed ?? row.value));
const descending = (a: number, b: number) => (a === b ? 0 : a < b ? 1 : -1);

function sorted(rows: Omit<Row, 'far' | 'away'>[], frame: Frame, { x, py }: Pointer, sort: TooltipSort): TooltipRow[] {
  const pixel = toPixel(frame.x, x);
  const placed = rows.map((row): Row => {
    const far = Math.abs(toPixel(frame.x, row.x) - pixel) > kFar;
    return { ...row, far, away: distance(frame, row.smoothed ?? row.value, py) };
  });
  const order = {
    value: (a: Row, b: Row) => descending(height(a), height(b)),
    nearest: (a: Row, b: Row) => -descending(a.away, b.away),
    name: (a: Row, b: Row) => compareNames(a.label, b.label),
  }[sort];
  return placed.sort((a, b) => Number(a.far) - Number(b.far) || order(a, b));
}

// `answer` has one row for each series of the question; null if nothing was requested.
export function rowsOf(
  scene: Scene,
  frame: Frame,
  pointer: Pointer,
  { lines, groups }: Pick<Lines, 'lines' | 'groups'>,
  question: Question | null,
  answer: readonly TableRow[],
  sort: TooltipSort,
): { rows: TooltipRow[]; step: number | null } {
  const found = new Map(answer.filter((row) => row.count > 0).map((row) => [`${row.run}\n${row.tag}`, row]));
  const smooth = question?.smooth ?? 0;
  const made: Omit<Row, 'far' | 'away'>[] = [];
  for (const line of lines) {
    const row = found.get(`${line.run}\n${line.tag}`);
    if (row) made.push(rowOf(line, row, scene, smooth));
  }
  let step = question?.step ?? null;
  if (step === null) made.push(...bandRows(scene, pointer.x));
  else {
    const steps = [...found.values()].map((row) => row.step);
    // The step of a pixel column may be between two recorded steps: then all rows use the one before it.
    if (!steps.includes(step)) step = steps.filter((one) => one < step!).reduce((a, b) => Math.max(a, b), -Infinity);
    if (step === -Infinity) step = question!.step;
    for (const group of groups) {
      const own = group.runs.flatMap((run) => found.get(`${run}\n${group.tag}`) ?? []);
      made.push(...groupRows(group, own, step!, scene, smooth));
    }
  }
  return { rows: sorted(made, frame, pointer, sort), step };
}

// Drawn points near a position on the axis, for charts without the pointer.
export function dotsAt(scene: Scene, frame: Frame, x: number): { x: number; y: number; color: string }[] {
  const pixel = toPixel(frame.x, x);
  const shapes = [
    ...scene.lines.map(({ x: xs, y, color }) => ({ xs, y, color })),
    ...scene.bands.map(({ x: xs, mean, color }) => ({ xs, y: mean, color })),
  ];
  return shapes.flatMap(({ xs, y, color }) => {
    const i = nearest(xs, x);
    const near = i >= 0 && Math.abs(toPixel(frame.x, xs[i] as number) - pixel) <= kFar;
    return near ? [{ x: xs[i] as number, y: y[i] as number, color }] : [];
  });
}
