// Groups of runs: by the first parts of their paths, or by a hyper-parameter.
import type { Run } from './api_types';
import { value } from './ui/format';

// 'tree' (folders within folders), 'none', 'path:<parts>' or 'hparam:<name>'.
export type GroupBy = string;

export const isGroupBy = (by: string): boolean => /^(tree|none|path:[1-9]|hparam:.+)$/.test(by);

export function groupOf(run: Run, by: GroupBy): string {
  if (by.startsWith('path:')) {
    const parts = run.run.split('/');
    // The last part is the run's own name, unless it is the only one.
    return parts.slice(0, Math.max(1, Math.min(Number(by.slice(5)), parts.length - 1))).join('/');
  }
  if (by.startsWith('hparam:')) {
    const name = by.slice(7);
    const found = run.hparams[name];
    if (found === undefined) return `without ${name}`;
    return `${name} = ${typeof found === 'number' ? value(found) : String(found)}`;
  }
  return '';
}

const kRole = /^(train|test|val|eval|dev)(ing|id|idation|uation)?$/i;

// The group of a run for means: training and test of one experiment are not two samples of the same quantity.
export function meanGroupOf(run: Run, by: GroupBy): string {
  const group = groupOf(run, by);
  const said = by.startsWith('path:') ? group.split('/').length : 0;
  const role = run.run
    .split('/')
    .slice(said)
    .find((part) => kRole.test(part));
  return role === undefined ? group : `${group} · ${role}`;
}

export function groupRuns(runs: readonly Run[], by: GroupBy): Map<string, Run[]> {
  const groups = new Map<string, Run[]>();
  for (const run of runs) {
    const name = groupOf(run, by);
    const group = groups.get(name);
    if (group) group.push(run);
    else groups.set(name, [run]);
  }
  return groups;
}

// Hyper-parameters that differ between runs come first: they are useful for grouping.
export function hparamNames(runs: readonly Run[]): string[] {
  const seen = new Map<string, Set<string>>();
  for (const run of runs)
    for (const [name, found] of Object.entries(run.hparams)) {
      const values = seen.get(name) ?? new Set();
      values.add(String(found));
      seen.set(name, values);
    }
  return [...seen]
    .sort(([a, x], [b, y]) => Number(y.size > 1) - Number(x.size > 1) || (a < b ? -1 : 1))
    .map(([n]) => n);
}

export const deepest = (runs: readonly Run[]): number =>
  Math.min(4, Math.max(1, ...runs.slice(0, 2000).map((run) => run.run.split('/').length - 1)));
