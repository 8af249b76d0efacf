// Selects the recorded step to show for the cursor.

export interface Shown {
  index: number;
  step: number;
  exact: boolean; // recorded at exactly the cursor's step
}

// The newest at or before the cursor; the first if there is none before; the last if there is no cursor. Null if there
// are no steps.
export function shownAt(steps: readonly number[], cursor: number | null): Shown | null {
  if (steps.length === 0) return null;
  let index = steps.length - 1;
  if (cursor !== null) {
    let low = 0;
    let high = steps.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (steps[middle]! <= cursor) low = middle + 1;
      else high = middle;
    }
    index = Math.max(0, low - 1);
  }
  const step = steps[index]!;
  return { index, step, exact: cursor === null || step === cursor };
}

// All steps of the lists, ascending.
export function union(lists: readonly (readonly number[])[]): number[] {
  return [...new Set(lists.flat())].sort((a, b) => a - b);
}

// The indices around `index` that are worth prefetching, the next one first.
export function neighbours(count: number, index: number): number[] {
  return [index + 1, index - 1, index + 2].filter((i) => i >= 0 && i < count);
}
