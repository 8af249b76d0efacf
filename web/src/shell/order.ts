// The order of the runs in the panel.
import { computed } from '@preact/signals';

import type { Run } from '../api_types';
import { type GroupBy, isGroupBy } from '../groups';
import { compareNames } from '../names';
import { restedSieve, runSieve, runs } from '../state';
import { list, oneOf, urlSignal } from '../url';
import { type Row, rowsOf } from './tree';

export type Sort = 'name' | 'newest' | 'step' | 'state';

export const sort = urlSignal<Sort>('order', 'name', oneOf<Sort>('name', 'newest', 'step', 'state'), {
  remember: true,
});
export const groupBy = urlSignal<GroupBy>(
  'group',
  'tree',
  { write: (by) => by, read: (text) => (isGroupBy(text) ? text : undefined) },
  { remember: true },
);
export const closed = urlSignal<string[]>('fold', [], list);

let ranked: { names: string[]; rank: Map<string, number> } = { names: [], rank: new Map() };

// Comparing names as people order them is slow: done only when the names change.
function rankOf(all: readonly Run[]): Map<string, number> {
  const same = all.length === ranked.names.length && all.every((run, i) => run.run === ranked.names[i]);
  if (same) return ranked.rank;
  const names = all.map((run) => run.run);
  // Part by part, so that "a/x" comes before "a-b/x", as its folder does.
  const parts = names.map((name) => name.split('/'));
  parts.sort((a, b) => {
    for (let i = 0; i < Math.min(a.length, b.length); ++i) {
      const order = compareNames(a[i] ?? '', b[i] ?? '');
      if (order !== 0) return order;
    }
    return a.length - b.length;
  });
  const rank = new Map(parts.map((one, i) => [one.join('/'), i]));
  ranked = { names, rank };
  return rank;
}

const kStates = { live: 0, died: 1, finished: 2 };

const ordered = computed<Run[]>(() => {
  const rank = rankOf(runs.value);
  const by = sort.value;
  const key = (run: Run): number => {
    if (by === 'newest') return -(run.started ?? 0);
    if (by === 'step') return -(run.last_step ?? -1);
    return by === 'state' ? kStates[run.state] : 0;
  };
  const keyed = runs.value.map((run) => ({ run, key: key(run), rank: rank.get(run.run) ?? 0 }));
  keyed.sort((a, b) => a.key - b.key || a.rank - b.rank);
  return keyed.map(({ run }) => run);
});

// The filtered runs in the chosen order: immediately, and delayed for charts and tables.
export const orderedRuns = computed(() => runSieve.value(ordered.value));
export const restedRuns = computed(() => restedSieve.value(ordered.value));

export const rows = computed<Row[]>(() => rowsOf(orderedRuns.value, groupBy.value, new Set(closed.value)));

export function toggleClosed(id: string): void {
  const name = id.slice(1);
  const old = closed.peek();
  closed.value = old.includes(name) ? old.filter((one) => one !== name) : [...old, name];
}
