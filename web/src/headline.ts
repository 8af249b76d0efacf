// Selects the scalars that show whether the network learns. Training and test of the same quantity belong in one chart.
import { computed } from '@preact/signals';

import type { Tag } from './api_types';
import { compareNames } from './names';
import { ScalarMap } from './stat_lines';
import { tags } from './state';

export type Better = 'smaller' | 'larger' | null; // null: not known

export interface Headline {
  name: string; // the common part of the tags
  tags: string[];
  better: Better;
}

const kPhases = /(^|[^a-z])(train(ing)?|test(ing)?|val(id(ation)?)?|eval(uation)?|dev)(?=$|[^a-z])/gi;

// "train/loss", "loss_test" and "validation/Loss" are all "loss".
export function quantityOf(tag: string): string {
  const bare = tag
    .replace(kPhases, '$1')
    .replace(/[/_.\-\s]+/g, '/')
    .replace(/^\/+|\/+$/g, '');
  return (bare === '' ? tag : bare).toLowerCase();
}

const kLarger =
  /acc|precision|recall|f1|auc|score|reward|return|bleu|rouge|iou|map\b|psnr|ssim|speed|throughput|per_sec/i;
const kSmaller = /loss|err|perplexity|ppl|mse|mae\b|rmse|nll|wer\b|cer\b|fid\b|kl\b|divergence|bpc|bits_per/i;

// For a learning rate or a norm of gradients neither the smallest nor the largest is the best.
export const betterOf = (quantity: string): Better =>
  kLarger.test(quantity) ? 'larger' : kSmaller.test(quantity) ? 'smaller' : null;

const kWanted: [RegExp, number][] = [
  [/^loss$/, 100],
  [/^(total|total\/loss|loss\/total)$/, 95],
  [/(^|\/)loss$/, 80],
  [/loss/, 60],
  [/^(acc|accuracy)$/, 55],
  [/acc|error|perplexity|reward|f1|auc/, 50],
  [/grad.*norm/, 30],
  [/(^|\/)(lr|learning\/?rate)/, 25],
];

export const kImportant = 45; // losses and accuracies

// How much a tag says about whether the network learns.
export function scoreOf(tag: string): number {
  const name = quantityOf(tag);
  return (kWanted.find(([pattern]) => pattern.test(name))?.[1] ?? 0) - name.split('/').length;
}

const kAccuracy = /acc|f1|auc|reward|iou|bleu/;

// The total loss comes first, then how well the task is done, if that was recorded.
export function headlinesOf(scalars: readonly Tag[], most: number): Headline[] {
  const groups = new Map<string, { tags: Tag[]; steps: number; points: number }>();
  for (const tag of scalars) {
    const name = quantityOf(tag.tag);
    const group = groups.get(name) ?? { tags: [], steps: 0, points: 0 };
    group.tags.push(tag);
    group.steps = Math.max(group.steps, ...tag.last_step.map((last, i) => last - (tag.first_step[i] ?? last)));
    group.points += tag.points.reduce((sum, n) => sum + n, 0);
    groups.set(name, group);
  }
  const scored = [...groups].map(([name, group]) => ({ name, group, score: scoreOf(name) }));
  scored.sort(
    (a, b) =>
      b.score - a.score || b.group.steps - a.group.steps || b.group.points - a.group.points || compareNames(a.name, b.name),
  );
  const accuracy = scored.findIndex(({ name }) => kAccuracy.test(name));
  if (accuracy > 1) scored.splice(1, 0, ...scored.splice(accuracy, 1));
  return scored.slice(0, most).map(({ name, group }) => ({
    name: group.tags.length === 1 ? (group.tags[0]?.tag ?? name) : name,
    tags: group.tags.map((tag) => tag.tag).slice(0, 6),
    better: betterOf(name),
  }));
}

export const scalarTags = computed(() => tags.value.filter((tag) => tag.kind === 'scalars'));
export const scalarsByTag = computed(() => new ScalarMap(scalarTags.value.map((tag) => [tag.tag, tag])));
// Of a series; -Infinity if not known.
export function lastStepOf({ run, tag }: { run: string; tag: string }): number {
  const known = scalarsByTag.value.get(tag);
  return known?.last_step[known.runs.indexOf(run)] ?? -Infinity;
}
export const headlines = computed(() => headlinesOf(scalarTags.value, 6));
