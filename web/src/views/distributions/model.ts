// Histograms as they were recorded, and values that follow from them without assumptions.

export interface Distribution {
  step: number;
  time: number; // seconds since 1970
  left: Float64Array; // edges of the bins of the file, by ascending value
  right: Float64Array; // equal to left if all values of a bin are equal
  count: Float64Array;
  total: number; // of finite values: the sum of count
  min: number; // of finite values; NaN if only the bins are known
  max: number;
  nan: number;
  positiveInfinity: number;
  negativeInfinity: number;
}

// The distributions of one run, by ascending step.
export interface Series {
  run: string;
  colour: string;
  steps: Distribution[];
  recorded: number; // steps in the range; `steps` is a selection of them
}

export interface RecordedHistogram {
  left: number[];
  right: number[];
  count: number[];
  nan: number;
  positive_infinity: number;
  negative_infinity: number;
}

export function distribution(
  step: number,
  time: number,
  recorded: RecordedHistogram,
  ends: { min: number; max: number } = { min: NaN, max: NaN },
): Distribution {
  const bins = recorded.left.length;
  const left = new Float64Array(bins);
  const right = new Float64Array(bins);
  const count = new Float64Array(bins);
  let kept = 0;
  let total = 0;
  for (let i = 0; i < bins; ++i) {
    // Some writers end with an open bin: its edge is an infinity, which has no position on an axis.
    const a = finite(recorded.left[i]!);
    const b = finite(recorded.right[i]!);
    const n = Number(recorded.count[i]);
    if (!(n >= 0) || Number.isNaN(a) || Number.isNaN(b)) continue;
    left[kept] = Math.min(a, b);
    right[kept] = Math.max(a, b);
    count[kept] = n;
    total += n;
    ++kept;
  }
  return {
    step,
    time,
    left: left.subarray(0, kept),
    right: right.subarray(0, kept),
    count: count.subarray(0, kept),
    total,
    min: ends.min,
    max: ends.max,
    nan: Number(recorded.nan),
    positiveInfinity: Number(recorded.positive_infinity),
    negativeInfinity: Number(recorded.negative_infinity),
  };
}

const kLargest = Number.MAX_VALUE;

// The API writes numbers that JSON cannot hold as strings.
function finite(value: number | string): number {
  return Math.min(kLargest, Math.max(-kLargest, Number(value)));
}

// Smallest and largest edge of the non-empty bins; null if all are empty.
export function extent(all: Iterable<Distribution>): [number, number] | null {
  let low = Infinity;
  let high = -Infinity;
  for (const one of all) {
    for (let i = 0; i < one.count.length; ++i) {
      if (one.count[i] === 0) continue;
      low = Math.min(low, one.left[i]!);
      high = Math.max(high, one.right[i]!);
    }
  }
  return low <= high ? [low, high] : null;
}

// TensorBoard's percentiles: the standard deviations of a normal distribution, in steps of one half.
export const kPercentiles = [0, 6.68, 15.87, 30.85, 50, 69.15, 84.13, 93.32, 100] as const;

// The value below which `percent` of the values are, assuming that those of a bin are spread evenly. NaN if there are
// none. The outer bins extend beyond their values: if the smallest and the largest value are known, these are the ends.
export function percentile(of: Distribution, percent: number): number {
  const found = percentileOfBins(of, percent);
  if (percent <= 0 && !Number.isNaN(of.min)) return of.total > 0 ? of.min : NaN;
  if (percent >= 100 && !Number.isNaN(of.max)) return of.total > 0 ? of.max : NaN;
  if (found < of.min) return of.min;
  return found > of.max ? of.max : found;
}

function percentileOfBins(of: Distribution, percent: number): number {
  const wanted = (of.total * percent) / 100;
  let below = 0;
  let last = NaN;
  for (let i = 0; i < of.count.length; ++i) {
    const n = of.count[i]!;
    if (n === 0) continue;
    const left = of.left[i]!;
    const right = of.right[i]!;
    if (below + n >= wanted) {
      const part = Math.max(0, (wanted - below) / n);
      return part >= 1 ? right : left * (1 - part) + right * part;
    }
    below += n;
    last = right;
  }
  return last; // rounding of the sum
}

export function percentiles(of: Distribution): number[] {
  return kPercentiles.map((percent) => percentile(of, percent));
}

// The bin at a value; if several contain it, the narrowest: one of zero width would never be found otherwise. -1: none.
export function binAt(of: Distribution, value: number, tolerance = 0): number {
  let found = -1;
  let width = Infinity;
  for (let i = 0; i < of.count.length; ++i) {
    if (of.count[i] === 0) continue;
    const left = of.left[i]!;
    const right = of.right[i]!;
    const slack = left === right ? tolerance : 0;
    if (value < left - slack || value > right + slack) continue;
    if (right - left < width) {
      found = i;
      width = right - left;
    }
  }
  return found;
}

export function isBad(of: Distribution): boolean {
  return of.nan + of.positiveInfinity + of.negativeInfinity > 0;
}

// The index of the last step at or before `step`; the first if there is none before; -1 for an empty list.
export function stepAt(steps: readonly { step: number }[], step: number): number {
  let low = 0;
  let high = steps.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (steps[middle]!.step <= step) low = middle + 1;
    else high = middle;
  }
  return steps.length === 0 ? -1 : Math.max(0, low - 1);
}

// The index of the nearest step; -1 for an empty list.
export function nearestStep(steps: readonly { step: number }[], step: number): number {
  const at = stepAt(steps, step);
  const next = steps[at + 1];
  return next && Math.abs(next.step - step) < Math.abs(steps[at]!.step - step) ? at + 1 : at;
}
