// Statistics of tensors as lines: the tag "stat:rms:activation/dense_1/out" is the rms of that tensor over steps.
import { computed } from '@preact/signals';

import type { Tag } from './api_types';
import { tags } from './state';
import { list, urlSignal } from './url';

// Those that Metrics shows besides the recorded scalars.
export const statLines = urlSignal<string[]>('stats', [], list);

const kNames = [
  'rms', 'mean_abs', 'abs_max', 'mean', 'std', 'min', 'max', 'l2', 'peak_factor', 'shape_factor', 'zero_fraction', 'negative_fraction',
  'nan', 'non_finite', 'f16_range', 'f8_e4m3_range', 'f8_e5m2_range', 'update_ratio', 'depth_gain', 'drift', 'count', 'zeros', 'sum_abs',
];

const tensors = computed(() => new Map(tags.value.filter((tag) => tag.kind === 'statistics').map((tag) => [tag.tag, tag])));

export const isStatLine = (tag: string): boolean => tag.startsWith('stat:');

// As if it were a recorded scalar.
export function statTag(tag: string): Tag | undefined {
  const found = /^stat:([a-z0-9_]+):/.exec(tag);
  const tensor = found && kNames.includes(found[1]!) ? tensors.value.get(tag.slice(found[0].length)) : undefined;
  return tensor && { ...tensor, tag, kind: 'scalars', display: '', description: '' };
}

// All that exist, for a list to choose from.
export const allStatLines = (): string[] => [...tensors.value.keys()].flatMap((tag) => kNames.map((name) => `stat:${name}:${tag}`));

// Recorded scalars by name, and statistics of tensors on demand.
export class ScalarMap extends Map<string, Tag> {
  override get(tag: string): Tag | undefined {
    return super.get(tag) ?? (isStatLine(tag) ? statTag(tag) : undefined);
  }
}
