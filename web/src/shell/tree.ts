// The rows of the runs panel: nested folders, groups, or one flat list.
import type { Run } from '../api_types';
import { type GroupBy, groupRuns } from '../groups';

export type Row =
  | { type: 'folder'; id: string; label: string; depth: number; runs: string[]; open: boolean }
  | { type: 'run'; id: string; run: Run; label: string; depth: number };

interface Folder {
  path: string;
  folders: Map<string, Folder>;
  runs: Run[];
  all: string[]; // the names of all runs below it
}

const folder = (path: string): Folder => ({ path, folders: new Map(), runs: [], all: [] });

function treeOf(runs: readonly Run[]): Folder {
  const root = folder('');
  for (const run of runs) {
    let at = root;
    at.all.push(run.run);
    let from = 0;
    for (let slash = run.run.indexOf('/'); slash >= 0; slash = run.run.indexOf('/', from)) {
      const part = run.run.slice(from, slash);
      let next = at.folders.get(part);
      if (!next) {
        next = folder(run.run.slice(0, slash));
        at.folders.set(part, next);
      }
      next.all.push(run.run);
      at = next;
      from = slash + 1;
    }
    at.runs.push(run);
  }
  return root;
}

function addFolder(rows: Row[], name: string, at: Folder, depth: number, closed: ReadonlySet<string>): void {
  // A chain of folders with nothing else in them is one row: "a/b/c".
  let label = name;
  while (at.runs.length === 0 && at.folders.size === 1) {
    const [only] = at.folders;
    if (!only) break;
    label = `${label}/${only[0]}`;
    at = only[1];
  }
  const open = !closed.has(at.path);
  rows.push({ type: 'folder', id: `/${at.path}`, label, depth, runs: at.all, open });
  if (open) addInside(rows, at, depth + 1, closed);
}

const below = (at: Folder, run: Run): string => (at.path === '' ? run.run : run.run.slice(at.path.length + 1));

function onlyRun(at: Folder): Run | undefined {
  let inner: Folder | undefined = at;
  while (inner && inner.runs.length === 0) [inner] = inner.folders.values();
  return inner?.runs[0];
}

function addInside(rows: Row[], at: Folder, depth: number, closed: ReadonlySet<string>): void {
  for (const [part, inner] of at.folders) {
    const single = inner.all.length === 1 ? onlyRun(inner) : undefined;
    // Folders for a single run would only be in the way.
    if (single) rows.push({ type: 'run', id: single.run, run: single, label: below(at, single), depth });
    else addFolder(rows, part, inner, depth, closed);
  }
  for (const run of at.runs)
    rows.push({
      type: 'run',
      id: run.run,
      run,
      label: below(at, run),
      depth,
    });
}

// `runs` are in display order.
export function rowsOf(runs: readonly Run[], by: GroupBy, closed: ReadonlySet<string>): Row[] {
  const rows: Row[] = [];
  if (by === 'tree') {
    addInside(rows, treeOf(runs), 0, closed);
    return rows;
  }
  if (by === 'none') return runs.map((run) => ({ type: 'run', id: run.run, run, label: run.run, depth: 0 }));
  for (const [name, group] of groupRuns(runs, by)) {
    const open = !closed.has(name);
    rows.push({ type: 'folder', id: `=${name}`, label: name, depth: 0, runs: group.map((run) => run.run), open });
    if (!open) continue;
    for (const run of group) {
      const inside = by.startsWith('path:') && run.run.startsWith(`${name}/`);
      rows.push({ type: 'run', id: run.run, run, label: inside ? run.run.slice(name.length + 1) : run.run, depth: 1 });
    }
  }
  return rows;
}
