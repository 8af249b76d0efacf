// Which cards there are: one a tag of a kind, with the runs that have it.
import type { Tag } from '../../api_types';
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

const order = new Intl.Collator('en', { numeric: true });

export function cardsOf(tags: readonly Tag[], kind: Kind, visible: ReadonlySet<string>): MediaCard[] {
  return tags
    .filter((tag) => tag.kind === kind)
    .map((tag): MediaCard => {
      const runs = tag.runs.map((run, i) => ({ run, points: tag.points[i] ?? 0, last: tag.last_step[i] ?? 0 }));
      return { tag: tag.tag, kind, runs: runs.filter((one) => visible.has(one.run)).sort((a, b) => order.compare(a.run, b.run)) };
    })
    .filter((card) => card.runs.length > 0)
    .sort((a, b) => order.compare(a.tag, b.tag));
}

export const cardId = (card: MediaCard): string => `${card.kind}:${card.tag}`;

export function subtitle(card: MediaCard): string {
  const steps = card.runs.reduce((sum, one) => sum + one.points, 0);
  return `${plural(steps, 'step')}${card.runs.length > 1 ? ` · ${plural(card.runs.length, 'run')}` : ''}`;
}
