// The order of the runs table. Pure.
import type { Run } from '../../api_types';
import { compareNames } from '../../names';

export type Value = number | string | boolean | null | undefined;

// Columns are "run", "state", "step", "speed", "note", "m:<tag>" and "h:<hyper-parameter>"; "-" before one: the largest first.
export function valueOf(run: Run, column: string, metric: (run: string, tag: string) => number | null): Value {
  if (column.startsWith('m:')) return metric(run.run, column.slice(2));
  if (column.startsWith('h:')) {
    const name = column.slice(2);
    return Object.hasOwn(run.hparams, name) ? run.hparams[name] : null;
  }
  switch (column) {
    case 'run':
      return run.run;
    case 'state':
      return run.first_bad_step === null ? run.state : `0 ${run.state}`; // runs with problems first
    case 'step':
      return run.last_step;
    case 'speed':
      return run.steps_per_second;
    default:
      return run.note || null;
  }
}

const isNothing = (value: Value) => value === null || value === undefined || Number.isNaN(value);

function compare(a: Value, b: Value): number {
  if (typeof a === 'number' && typeof b === 'number') return a - b || 0;
  return compareNames(String(a), String(b));
}

// Missing values and NaN are last in either direction; equal values keep their order.
export function sorted(
  runs: readonly Run[],
  by: string,
  metric: (run: string, tag: string) => number | null,
): readonly Run[] {
  if (by === '') return runs;
  const down = by.startsWith('-');
  const column = down ? by.slice(1) : by;
  const keyed = runs.map((run) => ({ run, value: valueOf(run, column, metric) }));
  keyed.sort((a, b) => {
    const [none, other] = [isNothing(a.value), isNothing(b.value)];
    if (none || other) return Number(none) - Number(other);
    return down ? compare(b.value, a.value) : compare(a.value, b.value);
  });
  return keyed.map(({ run }) => run);
}
