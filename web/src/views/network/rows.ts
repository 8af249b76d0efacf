// The rows of the map: the tensors of one kind in the order of execution; filtered, sorted and grouped by module.
import type { Tag } from '../../api_types';
import { compareNames } from '../../names';
import type { Sort } from './settings';

export interface Tensor {
  tag: string;
  name: string; // without the kind
  kind: string;
  order: number; // Infinity: not known
  interval: number; // steps between two records
  place: number; // among the tensors of its kind, in the order of execution
}

export interface Row {
  id: string; // of a tensor its tag; of a group its name and a slash
  label: string;
  title: string;
  tensors: Tensor[]; // one, or the members of a group
  group: boolean;
  open: boolean; // a group whose members follow
  depth: number; // 1: a member of an open group
}

const kKinds = ['activation', 'gradient', 'weight', 'update', 'input', 'output'];

// "eval/activation/dense_1/out" is "eval/activation" and "dense_1/out".
export function splitTag(tag: string): { kind: string; name: string } {
  const parts = tag.split('/');
  const count = parts[0] === 'eval' && parts.length > 2 ? 2 : 1;
  if (parts.length <= count) return { kind: 'other', name: tag };
  return { kind: parts.slice(0, count).join('/'), name: parts.slice(count).join('/') };
}

export const kindLabel = (kind: string): string => {
  const evaluation = kind.startsWith('eval/');
  const bare = evaluation ? kind.slice(5) : kind;
  const plural = bare === 'other' ? 'others' : `${bare}s`;
  return evaluation ? `${plural} (evaluation)` : plural;
};

function rankOf(kind: string): number {
  const at = kKinds.indexOf(kind.replace(/^eval\//, ''));
  return (at < 0 ? kKinds.length : at) + (kind.startsWith('eval/') ? 100 : 0);
}

// The tensors that one of the runs has recorded, by kind; kinds in the order in which people look for them.
export function tensorsOf(tags: readonly Tag[], runs: readonly string[]): Map<string, Tensor[]> {
  const found = new Map<string, Tensor[]>();
  for (const tag of tags) {
    if (tag.kind !== 'statistics') continue;
    const at = tag.runs.findIndex((run) => runs.includes(run));
    if (at < 0) continue;
    const { kind, name } = splitTag(tag.tag);
    const tensor = { tag: tag.tag, name, kind, order: tag.order ?? Infinity, interval: Math.max(1, tag.interval[at] ?? 1), place: 0 };
    const known = found.get(kind);
    if (known) known.push(tensor);
    else found.set(kind, [tensor]);
  }
  for (const tensors of found.values()) {
    tensors.sort((a, b) => (a.order === b.order ? compareNames(a.name, b.name) : a.order - b.order));
    tensors.forEach((tensor, i) => (tensor.place = i));
  }
  return new Map([...found].sort(([a], [b]) => rankOf(a) - rankOf(b) || (a < b ? -1 : 1)));
}

// The module of a tensor: the first parts of its name, which slashes or points separate.
export function moduleOf(name: string, depth: number): string {
  const parts = name.split(/[/.]/);
  return parts.length <= depth ? parts.slice(0, Math.max(1, parts.length - 1)).join('/') : parts.slice(0, depth).join('/');
}

// What sorting by the data needs about a tensor.
export interface Score {
  value: number; // the newest or largest one
  spikes: number;
  bad: number; // cells that are not finite
}

function compareScores(a: Score, b: Score, sort: Sort): number {
  if (sort === 'bad' && a.bad !== b.bad) return b.bad - a.bad;
  if (sort === 'spikes' && a.spikes !== b.spikes) return b.spikes - a.spikes;
  const of = (x: number) => (Number.isNaN(x) ? -Infinity : x);
  return of(b.value) === of(a.value) ? 0 : of(b.value) - of(a.value);
}

const single = (tensor: Tensor, depth: number): Row => ({
  id: tensor.tag,
  label: tensor.name,
  title: tensor.tag,
  tensors: [tensor],
  group: false,
  open: false,
  depth,
});

export interface Arrangement {
  sort: Sort;
  depth: number;
  opened: readonly string[];
  score: (tensor: Tensor) => Score | undefined;
}

export function arrange(tensors: readonly Tensor[], how: Arrangement): Row[] {
  const none: Score = { value: NaN, spikes: 0, bad: 0 };
  const sorted = [...tensors];
  if (how.sort === 'name') sorted.sort((a, b) => compareNames(a.name, b.name));
  else if (how.sort !== 'order')
    sorted.sort((a, b) => compareScores(how.score(a) ?? none, how.score(b) ?? none, how.sort) || a.place - b.place);
  if (how.depth === 0) return sorted.map((tensor) => single(tensor, 0));
  const groups = new Map<string, Tensor[]>();
  for (const tensor of sorted) {
    const name = moduleOf(tensor.name, how.depth);
    const members = groups.get(name);
    if (members) members.push(tensor);
    else groups.set(name, [tensor]);
  }
  const rows: Row[] = [];
  for (const [name, members] of groups) {
    if (members.length === 1) {
      rows.push(single(members[0]!, 0));
      continue;
    }
    const id = `${name}/`;
    const open = how.opened.includes(id);
    rows.push({ id, label: name, title: `${name}: ${members.length} tensors, pooled`, tensors: members, group: true, open, depth: 0 });
    if (open) for (const member of members) rows.push(single(member, 1));
  }
  return rows;
}
