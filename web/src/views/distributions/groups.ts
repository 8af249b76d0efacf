// The cards: one per tag, with the runs that have it.
import type { Tag } from '../../api_types';
import { compareNames } from '../../names';

export const kKinds = ['histograms', 'statistics'];

export interface Recorded {
  points: number;
  last: number; // step
}

export interface RunOfTag {
  run: string;
  kinds: Partial<Record<string, Recorded>>;
}

export interface TagCard {
  tag: string;
  runs: RunOfTag[];
}

export interface Group {
  name: string; // the first part of its tags; empty: tags without a slash
  cards: TagCard[];
}

export const cardId = ({ tag }: { tag: string }): string => `distributions:${tag}`;

// The tags of some kinds that a visible run has; in the order of execution if that is known, then by name.
export function groupTags(tags: readonly Tag[], kinds: readonly string[], visible: ReadonlySet<string>): Group[] {
  const cards = new Map<string, Map<string, RunOfTag>>();
  const order = new Map<string, number>();
  for (const tag of tags) {
    if (!kinds.includes(tag.kind)) continue;
    if (typeof tag.order === 'number') order.set(tag.tag, tag.order);
    tag.runs.forEach((run, i) => {
      if (!visible.has(run)) return;
      const runs = cards.get(tag.tag) ?? new Map<string, RunOfTag>();
      cards.set(tag.tag, runs);
      const entry = runs.get(run) ?? { run, kinds: {} };
      runs.set(run, entry);
      entry.kinds[tag.kind] = { points: tag.points[i] ?? 0, last: tag.last_step[i] ?? 0 };
    });
  }
  const groups = new Map<string, TagCard[]>();
  const place = (tag: string): number => order.get(tag) ?? Number.MAX_SAFE_INTEGER;
  for (const [tag, runs] of [...cards].sort(([a], [b]) => place(a) - place(b) || compareNames(a, b))) {
    const slash = tag.indexOf('/');
    const name = slash > 0 ? tag.slice(0, slash) : '';
    const list = groups.get(name) ?? [];
    groups.set(name, list);
    list.push({ tag, runs: [...runs.values()].sort((a, b) => compareNames(a.run, b.run)) });
  }
  return [...groups].map(([name, list]) => ({ name, cards: list })).sort((a, b) => compareNames(a.name, b.name));
}
