// The cards: one per tag of a kind, with the runs that have it.
import type { Tag } from '../../api_types';
import { compareNames } from '../../names';
import { plural } from '../../ui/format';
import type { Kind } from './settings';

export interface RunOfTag {
  run: string;
  points: number;
  last: number; // step
}

export interface MediaCard {
  tag: string;
  kind: Kind;
  runs: RunOfTag[];
}

export function cardsOf(tags: readonly Tag[], kind: Kind, visible: ReadonlySet<string>): MediaCard[] {
  return tags
    .filter((tag) => tag.kind === kind)
    .map((tag): MediaCard => {
      const runs = tag.runs.map((run, i) => ({ run, points: tag.points[i] ?? 0, last: tag.last_step[i] ?? 0 }));
      return { tag: tag.tag, kind, runs: runs.filter((one) => visible.has(one.run)).sort((a, b) => compareNames(a.run, b.run)) };
    })
    .filter((card) => card.runs.length > 0)
    .sort((a, b) => compareNames(a.tag, b.tag));
}

export const cardId = (card: MediaCard): string => `${card.kind}:${card.tag}`;

// `steps` counts the steps of any run, since runs mostly have the same ones. 0: not known yet.
export function subtitle(card: MediaCard, steps: number): string {
  const parts = steps > 0 ? [plural(steps, 'step')] : [];
  if (card.runs.length > 1) parts.push(plural(card.runs.length, 'run'));
  return parts.join(' · ');
}
