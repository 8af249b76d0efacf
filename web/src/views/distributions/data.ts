// The requests of a card.
import * as api from '../../api';
import type { LeftOut } from '../../api_types';
import { runByName } from '../../state';
import type { RunOfTag } from './groups';
import { distribution, type Series } from './model';
import type { Range } from './ranges';
import type { Mode, Source, StepWindow } from './settings';

export interface Asked {
  run: string;
  kinds: string[]; // in the order in which they are tried
}

export interface RunSeries extends Omit<Series, 'colour'> {
  ranges: Range[] | null; // if a tensor was recorded without histograms: then `steps` have no bins
  firstNan: number | null; // steps, of all that were recorded
  firstInfinite: number | null;
  damaged: LeftOut[];
}

// Statistics first: they have the counted bins and the numbers of non-finite values.
export function kindsOf({ kinds }: RunOfTag, source: Source): string[] {
  return ['statistics', 'histograms'].filter((kind) => kinds[kind] && (source === 'auto' || source === kind));
}

// As many steps as can be told apart on a chart of that size.
export function most(mode: Mode, width: number, height: number): number {
  if (mode === 'overlay') return 24;
  if (mode === 'ridgeline') return Math.min(100, Math.max(20, Math.round(height / 7 / 10) * 10));
  return Math.min(200, Math.max(50, Math.round(width / 2 / 50) * 50));
}

// Changes whenever the answer would differ.
export function questionKey(question: Question): string {
  const { tag, runs, source, window, count } = question;
  return JSON.stringify([tag, source, window, count, runs.map((one) => [one.run, one.kinds])]);
}

export interface Question {
  tag: string;
  runs: readonly RunOfTag[];
  source: Source;
  window: StepWindow;
  count: number; // of steps, at most
}

export function ask(question: Question, signal: AbortSignal): Promise<RunSeries[]> {
  return Promise.all(question.runs.map((one) => askRun(question, one, signal)));
}

const kMostStatistics = 10_000; // the server's limit of steps in one answer

async function askRun({ tag, source, window, count }: Question, of: RunOfTag, signal: AbortSignal): Promise<RunSeries> {
  const { run } = of;
  const range = window ? { first: window[0], last: window[1] } : {};
  let found: RunSeries = { run, steps: [], recorded: 0, ranges: null, firstNan: null, firstInfinite: null, damaged: [] };
  for (const kind of kindsOf(of, source)) {
    // If something was not finite, all steps are checked; otherwise the drawn ones: both answers select the same steps.
    const suspect = runByName.peek().get(run)?.first_bad_step != null;
    const [answer, seen] = await Promise.all([
      api.histograms({ run, tag, kind, most: count, ...range }, signal),
      kind === 'statistics' ? askRanges({ run, tag, most: suspect ? kMostStatistics : count, ...range }, signal) : [],
    ]);
    const ends = new Map(seen.map((one) => [`${one.step} ${one.time}`, one]));
    const steps = answer.steps.map((step, i) => {
      const time = answer.times[i] ?? NaN;
      const histogram = answer.histograms[i]! as Parameters<typeof distribution>[2];
      return distribution(step, time, histogram, ends.get(`${step} ${time}`));
    });
    found = { ...found, steps, recorded: answer.total, damaged: answer.left_out };
    if (kind === 'statistics') Object.assign(found, await firstBad({ run, tag }, found, seen, signal));
    if (steps.length === 0 || steps.some((one) => one.left.length > 0)) return found;
  }
  if (found.steps.length > 0 && of.kinds.statistics && source !== 'histograms') {
    const all = await askRanges({ run, tag, most: Math.max(200, count), ...range }, signal);
    if (all.some((one) => Number.isFinite(one.mean))) found.ranges = all;
  }
  return found;
}

type Bad = Pick<RunSeries, 'firstNan' | 'firstInfinite'>;

// The very first step with a NaN, and with an infinity, whether it is drawn or not. If there are more steps than one
// answer can hold, there may be others between the last step without one and the first with one.
async function firstBad(
  of: { run: string; tag: string },
  { steps, recorded }: RunSeries,
  all: readonly Range[],
  signal: AbortSignal,
): Promise<Bad> {
  const seen: (Counts & { step: number })[] = [...all, ...steps].sort((a, b) => a.step - b.step);
  const whole = Math.max(all.length, steps.length) >= recorded;
  const find = async (is: (one: Counts) => boolean): Promise<number | null> => {
    const at = seen.findIndex(is);
    const first = seen[at]?.step ?? null;
    const before = seen[at - 1]?.step;
    if (whole || first === null || before === undefined || before + 1 >= first) return first;
    const between = await askRanges({ ...of, first: before + 1, last: first, most: kMostStatistics }, signal);
    return between.find(is)?.step ?? first;
  };
  const [firstNan, firstInfinite] = await Promise.all([
    find((one) => one.nan > 0),
    find((one) => one.positiveInfinity + one.negativeInfinity > 0),
  ]);
  return { firstNan, firstInfinite };
}

type Counts = Pick<Range, 'nan' | 'positiveInfinity' | 'negativeInfinity'>;

async function askRanges(of: Parameters<typeof api.statistics>[0], signal: AbortSignal): Promise<Range[]> {
  const all = await api.statistics(of, signal);
  return all.steps.map((step, i) => ({
    step,
    time: all.times[i] ?? NaN,
    count: all.count[i] ?? 0,
    min: api.num(all.min[i]),
    max: api.num(all.max[i]),
    mean: api.num(all.mean[i]),
    std: api.num(all.std[i]),
    zeros: all.zeros[i] ?? 0,
    nan: all.nan[i] ?? 0,
    positiveInfinity: all.positive_infinity[i] ?? 0,
    negativeInfinity: all.negative_infinity[i] ?? 0,
  }));
}
