// The recorded steps of the cards on the screen that show one step: the arrow keys jump between them.
import { computed, signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';

import { union } from './steps';

const lists = signal<ReadonlyMap<string, readonly number[]>>(new Map());
export const recordedSteps = computed(() => union([...lists.value.values()]));

export function useRecorded(id: string, steps: readonly number[]): void {
  const key = steps.join();
  useEffect(() => {
    lists.value = new Map(lists.peek()).set(id, steps);
    return () => {
      const left = new Map(lists.peek());
      left.delete(id);
      lists.value = left;
    };
  }, [id, key]);
}

// The recorded step `by` places after the cursor, or before it if `by` is negative; the first or last if there are fewer.
export function recordedFrom(steps: readonly number[], cursor: number, by: number): number | null {
  if (steps.length === 0) return null;
  const after = steps.findIndex((step) => step > cursor);
  const next = after < 0 ? steps.length : after;
  const before = steps.filter((step) => step < cursor).length;
  const at = by > 0 ? next + by - 1 : before + by;
  return steps[Math.min(steps.length - 1, Math.max(0, at))] ?? null;
}
