import { json, list, urlSignal } from '../../url';

export interface OwnChart {
  title: string;
  tags: string[];
}

const isCharts = (value: unknown): value is OwnChart[] =>
  Array.isArray(value) &&
  value.every((one: unknown) => {
    if (typeof one !== 'object' || one === null) return false;
    const { title, tags } = one as OwnChart;
    return typeof title === 'string' && Array.isArray(tags) && tags.every((tag) => typeof tag === 'string');
  });

// Charts of several tags that the user has created.
export const ownCharts = urlSignal<OwnChart[]>('charts', [], json(isCharts), { remember: true });
export const folded = urlSignal<string[]>('sections', [], list);

export function toggleFolded(id: string): void {
  const old = folded.peek();
  folded.value = old.includes(id) ? old.filter((one) => one !== id) : [...old, id];
}
