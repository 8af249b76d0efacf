// The position of a cell on its axis, from 0 (bottom or left) to 1. Pure.
import { linearTicks, logTicks, sane, type Scale, toPixel, toValue } from '../../chart/scale';
import { compareNames } from '../../names';
import { middle, short } from '../../ui/format';
import type { Cell, Column } from './columns';

export type ScaleName = 'linear' | 'log';

export interface Tick {
  at: number; // 0 to 1
  text: string;
}

export interface Axis {
  column: Column;
  log: boolean;
  categories: string[] | null; // of texts, in order
  place: (cell: Cell) => number | null; // null: it has no position, because it is missing, not finite, or not positive on a logarithmic axis
  valueAt: (place: number) => number;
  none: '' | 'none' | '≤ 0' | 'NaN/Inf'; // the worst reason why a trial has no position; empty: all have one
  ticks: (most: number) => Tick[];
}

const kWide = 30; // ratio: if most of the numbers span as much, their axis is logarithmic by default

export const finiteOf = (column: Column): number[] => column.cells.filter((cell): cell is number => typeof cell === 'number' && Number.isFinite(cell));

function rangeOf(numbers: readonly number[]): [number, number] {
  let lo = Infinity;
  let hi = -Infinity;
  for (const one of numbers) {
    if (one < lo) lo = one;
    if (one > hi) hi = one;
  }
  return [lo, hi];
}

// Excludes 10 % at each end: even evenly spread numbers may include a few tiny ones.
function isWide(numbers: readonly number[]): boolean {
  const sorted = Float64Array.from(numbers).sort();
  const end = Math.floor((sorted.length - 1) / 10);
  return sorted.length > 0 && sorted[sorted.length - 1 - end]! / sorted[end]! >= kWide;
}

export function axisOf(column: Column, wanted?: ScaleName): Axis {
  return column.text ? textAxis(column) : numberAxis(column, wanted);
}

function textAxis(column: Column): Axis {
  const categories = [...new Set(column.cells.filter((cell): cell is string => typeof cell === 'string'))].sort(compareNames);
  const places = new Map(categories.map((name, i) => [name, categories.length > 1 ? i / (categories.length - 1) : 0.5]));
  return {
    column,
    log: false,
    categories,
    place: (cell) => (typeof cell === 'string' ? (places.get(cell) ?? null) : null),
    valueAt: (place) => place,
    none: column.cells.includes(null) ? 'none' : '',
    ticks: (most) => {
      const every = Math.max(1, Math.ceil(categories.length / Math.max(1, most)));
      return categories.filter((_, i) => i % every === 0).map((name) => ({ at: places.get(name)!, text: middle(name, 16) }));
    },
  };
}

function worst({ cells }: Column, log: boolean): Axis['none'] {
  if (cells.some((cell) => cell !== null && !Number.isFinite(cell))) return 'NaN/Inf';
  if (log && cells.some((cell) => cell !== null && Number(cell) <= 0)) return '≤ 0';
  return cells.includes(null) ? 'none' : '';
}

function numberAxis(column: Column, wanted: ScaleName | undefined): Axis {
  const numbers = finiteOf(column);
  let [lo, hi] = rangeOf(numbers);
  const log = wanted ? wanted === 'log' : lo > 0 && isWide(numbers);
  if (log) [lo] = rangeOf(numbers.filter((one) => one > 0));
  [lo, hi] = sane(lo, hi, log);
  const scale: Scale = { lo, hi, log, from: 0, to: 1 };
  return {
    column,
    log,
    categories: null,
    place: (cell) => (typeof cell === 'number' && Number.isFinite(cell) && (!log || cell > 0) ? toPixel(scale, cell) : null),
    valueAt: (place) => toValue(scale, place),
    none: worst(column, log),
    ticks: (most) => (log ? logTicks : linearTicks)(lo, hi, most).map((tick) => ({ at: toPixel(scale, tick), text: short(tick) })),
  };
}

// --- Selection ---

// A range of numbers, or some of the strings.
export type Brush = readonly [number, number] | readonly string[];
export type Brushes = Readonly<Record<string, Brush>>;

const isRange = (brush: Brush): brush is readonly [number, number] => typeof brush[0] === 'number';

export function isBrushes(value: unknown): value is Brushes {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  return Object.values(value).every((brush: unknown) => {
    if (!Array.isArray(brush)) return false;
    if (brush.every((one) => typeof one === 'string')) return true;
    return brush.length === 2 && brush.every((one) => typeof one === 'number' && Number.isFinite(one)) && brush[0] <= brush[1];
  });
}

export function holds(brush: Brush, cell: Cell): boolean {
  if (isRange(brush)) return typeof cell === 'number' && cell >= brush[0] && cell <= brush[1];
  return typeof cell === 'string' && brush.includes(cell);
}

export function without(brushes: Brushes, id: string): Brushes {
  return Object.fromEntries(Object.entries(brushes).filter(([key]) => key !== id));
}

// The trials within all brushes; a brush on a column that does not exist excludes none.
export function keptOf(count: number, columns: readonly Column[], brushes: Brushes): boolean[] {
  const kept = new Array<boolean>(count).fill(true);
  for (const column of columns) {
    const brush = brushes[column.id];
    if (brush) for (let i = 0; i < count; ++i) kept[i] &&= holds(brush, column.cells[i] ?? null);
  }
  return kept;
}

// The part of the axis that a brush covers; null if there is none.
export function spanOf(axis: Axis, brush: Brush | undefined): [number, number] | null {
  if (!brush) return null;
  if (isRange(brush)) {
    if (axis.categories) return null;
    const [from, to] = brush.map((end) => axis.place(end) ?? 0) as [number, number];
    return [Math.max(0, from), Math.min(1, to)];
  }
  const room = axis.categories && axis.categories.length > 1 ? 0.4 / (axis.categories.length - 1) : 0.1;
  const places = brush.map((name) => axis.place(name)).filter((place) => place !== null);
  return places.length > 0 ? [Math.min(...places) - room, Math.max(...places) + room] : null;
}

// The brush between two positions of the axis; null: nothing is there.
export function brushOf(axis: Axis, from: number, to: number): Brush | null {
  const [low, high] = [Math.max(0, Math.min(from, to)), Math.min(1, Math.max(from, to))];
  if (!axis.categories) return low < high ? [rounded(axis.valueAt(low), Math.floor), rounded(axis.valueAt(high), Math.ceil)] : null;
  const room = 0.5 / Math.max(1, axis.categories.length - 1);
  const names = axis.categories.filter((name) => {
    const place = axis.place(name) ?? -1;
    return place >= Math.min(from, to) - room * 0.2 && place <= Math.max(from, to) + room * 0.2;
  });
  return names.length > 0 ? names : null;
}

// Five digits are enough for any screen, and short in a link; rounded outwards, so that values at the end stay inside.
function rounded(value: number, towards: (x: number) => number): number {
  const near = Number(value.toPrecision(5));
  if (value === 0 || near === value) return near;
  const unit = 10 ** (Math.floor(Math.log10(Math.abs(value))) - 4);
  return Number((towards(value / unit) * unit).toPrecision(5));
}
