// How much of a tag is seen, and where it was not finite.
import { integer, plural } from '../../ui/format';
import type { RunSeries } from './data';
import type { TagCard } from './groups';

export function Subtitle(props: { card: TagCard; found: RunSeries[]; shown: number }) {
  const { card, found, shown } = props;
  const total = card.runs.length;
  const recorded = found.reduce((sum, one) => sum + one.recorded, 0);
  const drawn = found.reduce((sum, one) => sum + one.steps.length, 0);
  const nan = first(found.map((one) => one.firstNan));
  const infinite = first(found.map((one) => one.firstInfinite));
  return (
    <>
      {recorded > drawn ? `${integer(drawn)} of ${plural(recorded, 'step')}` : plural(recorded, 'step')}
      {total > 1 && ` · ${shown < total ? `${shown} of ${plural(total, 'run')}` : plural(total, 'run')}`}
      {nan !== null && <span class="dist-nan"> · NaN at {integer(nan)}</span>}
      {infinite !== null && <span class="dist-inf"> · Inf at {integer(infinite)}</span>}
    </>
  );
}

function first(steps: (number | null)[]): number | null {
  const known = steps.filter((step) => step !== null);
  return known.length > 0 ? Math.min(...known) : null;
}
