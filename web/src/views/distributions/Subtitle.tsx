// Non-finite steps and read errors come first, since a phone has little room; then how much of the data is shown.
import { integer, plural } from '../../ui/format';
import type { RunSeries } from './data';
import type { TagCard } from './groups';

export function Subtitle(props: { card: TagCard; found: RunSeries[]; shown: number }) {
  const { card, found, shown } = props;
  const total = card.runs.length;
  const nan = first(found.map((one) => one.firstNan));
  const damaged = found.flatMap((one) => one.damaged);
  const infinite = first(found.map((one) => one.firstInfinite));
  return (
    <>
      {nan !== null && <span class="dist-nan">NaN at {integer(nan)} · </span>}
      {infinite !== null && <span class="dist-inf">Inf at {integer(infinite)} · </span>}
      {damaged.length > 0 && (
        <span class="dist-nan" title={damaged.map(({ step, text }) => `step ${integer(step)}: ${text}`).join('\n')}>
          {plural(damaged.length, 'step')} damaged ·{' '}
        </span>
      )}
      {stepsSaid(found)}
      {total > 1 && ` · ${shown < total ? `${shown} of ${plural(total, 'run')}` : plural(total, 'run')}`}
    </>
  );
}

// Runs have mostly the same steps: each is counted once. If only some are drawn, it refers to the run with the most.
export function stepsSaid(found: readonly Pick<RunSeries, 'steps' | 'recorded' | 'damaged'>[]): string {
  if (found.every((one) => one.recorded <= one.steps.length + one.damaged.length))
    return plural(new Set(found.flatMap((one) => one.steps.map(({ step }) => step))).size, 'step');
  const most = found.reduce((a, b) => (b.recorded > a.recorded ? b : a));
  return `${integer(most.steps.length)} of ${plural(most.recorded, 'step')}${found.length > 1 ? ' per run' : ''}`;
}

function first(steps: (number | null)[]): number | null {
  const known = steps.filter((step) => step !== null);
  return known.length > 0 ? Math.min(...known) : null;
}
