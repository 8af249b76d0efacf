// What the log has and no view shows.
import type { Tag } from '../../api_types';
import type { View } from '../../registry';
import { integer } from '../../ui/format';

const kElsewhere = ['custom_scalars', 'hparams']; // charts of the metrics, columns of the tables

export function alsoRecorded(tags: readonly Pick<Tag, 'kind'>[], views: readonly Pick<View, 'kinds'>[]): string[] {
  const shown = new Set([...kElsewhere, ...views.flatMap((one) => one.kinds)]);
  const others = new Map<string, number>();
  for (const { kind } of tags) if (!shown.has(kind)) others.set(kind, (others.get(kind) ?? 0) + 1);
  return [...others].map(([kind, count]) => `${integer(count)} ${count === 1 ? kind.replace(/s$/, '') : kind}`);
}
