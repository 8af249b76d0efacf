// Smoothing counts steps: all lines of a chart are smoothed over the same number of steps, however dense their points
// are. The densest line sets this number, so that it is smoothed as in TensorBoard.
import type { SeriesKey } from '../api_types';
import { scalarsByTag } from '../headline';

// Steps between two points of the densest series; undefined if none has two.
export function intervalOf(series: readonly SeriesKey[]): number | undefined {
  const known = scalarsByTag.value;
  let least = Infinity;
  const wanted = new Map<string, Set<string>>();
  for (const { run, tag } of series) wanted.set(tag, (wanted.get(tag) ?? new Set()).add(run));
  for (const [name, runs] of wanted) {
    const tag = known.get(name);
    tag?.runs.forEach((run, i) => {
      const interval = tag.interval[i] ?? 0;
      if (interval > 0 && interval < least && runs.has(run)) least = interval;
    });
  }
  return Number.isFinite(least) ? least : undefined;
}
