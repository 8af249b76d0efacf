// Combines the rows of a group's runs.
import { num } from '../api';
import type { TableRow } from '../api_types';

export interface GroupRow {
  runs: number;
  value: number; // means over the runs
  smoothed: number | null;
  delta: number | null;
  std: number; // of the values, over the runs
  min: number;
  max: number;
  mean: number;
}

const finite = (rows: readonly TableRow[], of: (row: TableRow) => TableRow['value'] | null | undefined): number[] =>
  rows.map((row) => num(of(row))).filter(Number.isFinite);
const meanOf = (all: readonly number[]): number => all.reduce((sum, x) => sum + x, 0) / all.length;

// At a step, the runs that have reached it count, as in the band; if none has, those that are farthest. `last` is the
// last step of a row's series.
export function reached(rows: readonly TableRow[], last: (row: TableRow) => number, step: number): TableRow[] {
  const there = rows.filter((row) => row.count > 0);
  const far = Math.min(step, Math.max(...there.map(last)));
  return there.filter((row) => last(row) >= far);
}

// Of the finite values; null if no run has any.
export function groupRow(rows: readonly TableRow[]): GroupRow | null {
  const values = finite(rows, (row) => row.value);
  if (values.length === 0) return null;
  const value = meanOf(values);
  const smooth = finite(rows, (row) => row.smoothed);
  const delta = finite(rows, (row) => row.delta);
  return {
    runs: values.length,
    value,
    smoothed: smooth.length > 0 ? meanOf(smooth) : null,
    delta: delta.length > 0 ? meanOf(delta) : null,
    std: Math.sqrt(meanOf(values.map((x) => (x - value) ** 2))),
    min: Math.min(...finite(rows, (row) => row.min)),
    max: Math.max(...finite(rows, (row) => row.max)),
    mean: meanOf(finite(rows, (row) => row.mean)),
  };
}
