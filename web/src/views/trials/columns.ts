// Trials as a table: one row per run with hyper-parameters, one column per hyper-parameter or metric. Pure.
import { num } from '../../api';
import type { Run, TableRow, Tag } from '../../api_types';
import { betterOf, quantityOf } from '../../headline';
import { compareNames } from '../../names';

export type Cell = number | string | null; // null: the trial has none

export interface Column {
  id: string; // "h:lr", "m:loss"
  name: string;
  metric: boolean;
  text: boolean; // its cells are texts or null
  cells: Cell[]; // one per trial
}

export const hparamId = (name: string): string => `h:${name}`;
export const metricId = (tag: string): string => `m:${tag}`;
export const nameOf = (id: string): string => id.slice(2);
export const isMetric = (id: string): boolean => id.startsWith('m:');

// Runs with hyper-parameters. A run that has nothing else, above runs that inherit them, is not a trial itself.
export function trialsOf(runs: readonly Run[], scalars: readonly Tag[]): Run[] {
  const named = runs.filter((run) => Object.keys(run.hparams).length > 0);
  const measured = new Set(scalars.flatMap((tag) => tag.runs));
  const above = new Set<string>();
  for (const { run } of named) {
    if (measured.has(run)) for (let at = run.lastIndexOf('/'); at > 0; at = run.lastIndexOf('/', at - 1)) above.add(run.slice(0, at));
    if (measured.has(run) && run !== '.') above.add('.');
  }
  return named.filter(({ run }) => measured.has(run) || !above.has(run));
}

export function hparamColumn(name: string, trials: readonly Run[]): Column {
  const found = trials.map((trial) => trial.hparams[name]);
  const text = found.some((one) => one !== undefined && typeof one !== 'number');
  const cells = found.map((one): Cell => (one === undefined ? null : text ? String(one) : (one as number)));
  return { id: hparamId(name), name, metric: false, text, cells };
}

export type Stat = 'last' | 'best';

// If it is not known whether larger or smaller is better, the best value is the last one.
export function statOf(row: TableRow | undefined, tag: string, stat: Stat): number | null {
  if (!row || row.count === 0) return null;
  const better = stat === 'best' ? betterOf(quantityOf(tag)) : null;
  return num(better === 'smaller' ? row.min : better === 'larger' ? row.max : row.last);
}

export function metricColumn(tag: string, trials: readonly Run[], rowOf: (run: string, tag: string) => TableRow | undefined, stat: Stat): Column {
  return { id: metricId(tag), name: tag, metric: true, text: false, cells: trials.map(({ run }) => statOf(rowOf(run, tag), tag, stat)) };
}

// Names of all hyper-parameters, and of those that differ between trials, which are the interesting ones.
export function hparamsOf(trials: readonly Run[]): { all: string[]; differing: string[] } {
  const values = new Map<string, Set<unknown>>();
  for (const trial of trials)
    for (const [name, one] of Object.entries(trial.hparams)) {
      const known = values.get(name);
      if (!known) values.set(name, new Set([one]));
      else if (known.size < 2) known.add(one);
    }
  const all = [...values.keys()].sort(compareNames);
  const missing = (name: string) => trials.some((trial) => trial.hparams[name] === undefined);
  return { all, differing: all.filter((name) => values.get(name)!.size > 1 || missing(name)) };
}

// Ascending; missing values and NaN are last in either direction.
export function sortedBy(column: Column | undefined, names: readonly string[], descending: boolean): Uint32Array {
  const rows = Uint32Array.from(names, (_, i) => i);
  const sign = descending ? -1 : 1;
  if (!column) return descending ? rows.reverse() : rows;
  const missing = (cell: Cell) => Number(cell === null || (typeof cell === 'number' && Number.isNaN(cell)));
  return rows.sort((a, b) => {
    const x = column.cells[a] ?? null;
    const y = column.cells[b] ?? null;
    const without = missing(x) - missing(y);
    if (without !== 0 || missing(x)) return without || a - b;
    if (typeof x === 'number' && typeof y === 'number') return x === y ? a - b : sign * (x < y ? -1 : 1);
    return sign * compareNames(String(x), String(y)) || a - b;
  });
}
