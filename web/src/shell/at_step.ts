// Selects the numbers to show at the step cursor.
import type { Tag } from '../api_types';

export interface Shown {
  run: string;
  tag: string;
}

// A live run among those with this tag, and of several the one with the largest last step.
function foremost(tag: Tag, visible: ReadonlySet<string>, live: ReadonlySet<string>): string | null {
  let best: string | null = null;
  let step = -Infinity;
  let lives = false;
  tag.runs.forEach((run, i) => {
    const last = tag.last_step[i] ?? -Infinity;
    if (!visible.has(run) || (lives && !live.has(run)) || (live.has(run) === lives && last <= step)) return;
    best = run;
    step = last;
    lives = live.has(run);
  });
  return best;
}

// All runs of all tags if there are few enough; otherwise one run per tag.
export function seriesAtStep(
  tags: readonly Tag[],
  visible: ReadonlySet<string>,
  live: ReadonlySet<string>,
  most: number,
): Shown[] {
  const all: Shown[] = [];
  for (const tag of tags)
    for (const run of tag.runs) if (all.length <= most && visible.has(run)) all.push({ run, tag: tag.tag });
  if (all.length <= most) return all;
  const one: Shown[] = [];
  for (const tag of tags) {
    const run = foremost(tag, visible, live);
    if (run !== null && one.length < most) one.push({ run, tag: tag.tag });
  }
  return one;
}
