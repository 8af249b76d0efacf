// Selects the numbers to show at the step cursor.
import type { Tag } from '../api_types';

export interface Shown {
  run: string;
  tag: string;
}

// The run with the largest last step among those with this tag.
function farthest(tag: Tag, visible: ReadonlySet<string>): string | null {
  let best: string | null = null;
  let step = -Infinity;
  tag.runs.forEach((run, i) => {
    const last = tag.last_step[i] ?? -Infinity;
    if (!visible.has(run) || last <= step) return;
    best = run;
    step = last;
  });
  return best;
}

// All runs of all tags if there are few enough; otherwise one run per tag.
export function seriesAtStep(tags: readonly Tag[], visible: ReadonlySet<string>, most: number): Shown[] {
  const all: Shown[] = [];
  for (const tag of tags)
    for (const run of tag.runs) if (all.length <= most && visible.has(run)) all.push({ run, tag: tag.tag });
  if (all.length <= most) return all;
  const one: Shown[] = [];
  for (const tag of tags) {
    const run = farthest(tag, visible);
    if (run !== null && one.length < most) one.push({ run, tag: tag.tag });
  }
  return one;
}
