// The numbers of a chart as a file: exactly what is in view.
import { scalarsUrl } from '../api';
import type { Axis } from '../api_types';
import type { BandShape, Line } from './scene';

export type Steps = readonly [number, number];
type Pair = readonly [number, number];

// The steps of a line that are in view; null: all of them. On a time axis the drawn points give them: these include the
// first and the last point of every pixel column.
export function stepsInView(axis: Axis, range: Pair | null, line: Line | undefined): Steps | null {
  if (range === null) return null;
  if (axis === 'step') return [Math.ceil(range[0]), Math.floor(range[1])];
  let [first, last] = [Infinity, -Infinity];
  for (const { x, step } of line ? [line, line.bad] : [])
    x.forEach((at, i) => {
      if (at < range[0] || at > range[1]) return;
      first = Math.min(first, step[i] as number);
      last = Math.max(last, step[i] as number);
    });
  return first <= last ? [first, last] : [1, 0];
}

export interface Series {
  run: string;
  tag: string;
  steps: Steps | null;
}

export function seriesUrl({ run, tag, steps }: Series, format: 'csv' | 'json'): string {
  return scalarsUrl({ run, tag, ...(steps ? { first: steps[0], last: steps[1] } : {}) }, format);
}

const isEmpty = ({ steps }: Series) => steps !== null && steps[0] > steps[1];

// Joins several series in one file: the heading of the first, and the lines of all.
export async function joinedCsv(
  all: readonly Series[],
  ask: (url: string) => Promise<string>,
  progress: (done: number) => void,
): Promise<string[]> {
  const parts: string[] = ['run,tag,step,wall_time,value\r\n'];
  for (const [i, one] of all.entries()) {
    progress(i);
    if (isEmpty(one)) continue;
    const text = await ask(seriesUrl(one, 'csv'));
    const end = text.indexOf('\n') + 1;
    if (i === 0) parts[0] = text.slice(0, end);
    const lines = text.slice(end);
    parts.push(lines === '' || lines.endsWith('\n') ? lines : `${lines}\r\n`);
  }
  return parts;
}

export async function askText(address: string): Promise<string> {
  const answer = await fetch(address, { credentials: 'same-origin' });
  if (answer.ok) return answer.text();
  const said = (await answer.json().catch(() => ({}))) as { error?: string };
  throw new Error(said.error ?? `The server answered ${answer.status}.`);
}

const kPlaces: Record<Axis, string> = { step: 'step', relative: 'seconds', wall: 'wall_time' };
const quoted = (text: string): string => (/[",\r\n]/.test(text) ? `"${text.replace(/"/g, '""')}"` : text);

type Row = Record<string, number>;

// The data of a mean, one row for each visible pixel column.
function rowsOf(band: BandShape, axis: Axis, range: Pair | null): Row[] {
  const rows: Row[] = [];
  band.x.forEach((x, i) => {
    if (range && (x < range[0] || x > range[1])) return;
    rows.push({
      [kPlaces[axis]]: x,
      mean: (band.raw ?? band.mean)[i] as number,
      ...(band.raw ? { smoothed: band.mean[i] as number } : {}),
      low: band.low[i] as number,
      high: band.high[i] as number,
      min: band.min[i] as number,
      max: band.max[i] as number,
      runs: band.count[i] as number,
    });
  });
  return rows;
}

export function bandsCsv(bands: readonly BandShape[], axis: Axis, range: Pair | null): string {
  const smoothed = bands.some((band) => band.raw !== null);
  const columns = [kPlaces[axis], 'mean', ...(smoothed ? ['smoothed'] : []), 'low', 'high', 'min', 'max', 'runs'];
  const lines = bands.flatMap((band) =>
    rowsOf(band, axis, range).map((row) => [quoted(band.label), ...columns.map((name) => String(row[name] ?? ''))]),
  );
  return [['group', ...columns], ...lines].map((line) => `${line.join(',')}\r\n`).join('');
}

export const bandsJson = (bands: readonly BandShape[], axis: Axis, range: Pair | null): string =>
  `${JSON.stringify(
    bands.map((band) => ({ group: band.label, points: rowsOf(band, axis, range) })),
    null,
    1,
  )}\n`;
