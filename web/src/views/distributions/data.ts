// What a card asks the server for.
import * as api from '../../api';
import type { RunOfTag, TagCard } from './groups';
import { distribution, isBad, type Series } from './model';
import type { Mode, Source } from './settings';

export interface Asked {
  run: string;
  kinds: string[]; // in the order in which they are tried
}

export type RunSeries = Omit<Series, 'colour'> & { withoutBins: boolean };

// Statistics first: they have the bins that were counted, and say what was not finite.
export function kindsOf({ kinds }: RunOfTag, source: Source): string[] {
  return ['statistics', 'histograms'].filter((kind) => kinds[kind] && (source === 'auto' || source === kind));
}

// As many steps as can be told apart on a chart of that size.
export function most(mode: Mode, width: number, height: number): number {
  if (mode === 'overlay') return 24;
  if (mode === 'ridgeline') return Math.min(100, Math.max(20, Math.round(height / 7 / 10) * 10));
  return Math.min(200, Math.max(50, Math.round(width / 2 / 50) * 50));
}

// Changes whenever something else would be answered.
export function questionKey(card: TagCard, runs: readonly RunOfTag[], source: Source, count: number): string {
  return JSON.stringify([card.tag, source, count, runs.map((one) => [one.run, one.kinds])]);
}

export function ask(card: TagCard, runs: readonly RunOfTag[], source: Source, count: number, signal: AbortSignal): Promise<RunSeries[]> {
  return Promise.all(runs.map((one) => askRun(card.tag, one.run, kindsOf(one, source), count, signal)));
}

async function askRun(tag: string, run: string, kinds: string[], count: number, signal: AbortSignal): Promise<RunSeries> {
  let found: RunSeries = { run, steps: [], recorded: 0, withoutBins: false };
  for (const kind of kinds) {
    const answer = await api.histograms({ run, tag, kind, most: count }, signal);
    const steps = answer.steps.map((step, i) =>
      distribution(step, answer.times[i] ?? NaN, answer.histograms[i]! as Parameters<typeof distribution>[2]),
    );
    // A tensor that is not finite at all has no bins either, but says so.
    const withoutBins = steps.length > 0 && steps.every((one) => one.left.length === 0 && !isBad(one));
    found = { run, steps, recorded: answer.total, withoutBins };
    if (!withoutBins) break;
  }
  return found;
}
