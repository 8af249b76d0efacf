// The number of values in each pixel column of an axis: every bin's count is spread evenly over the columns that it
// covers, by its true edges. The area is the count on any axis, and a bin narrower than a pixel does not vanish.
import type { Axis } from './axis';
import type { Distribution } from './model';

export interface Profile {
  mass: Float64Array; // values in each column, of bins that have a width
  spike: Float64Array; // of bins without width: all their values are equal
}

export function profile(of: Distribution, axis: Axis, columns: number): Profile {
  const mass = new Float64Array(columns);
  const spike = new Float64Array(columns);
  const perColumn = Math.abs(axis.to - axis.from) / columns;
  const start = Math.min(axis.from, axis.to);
  for (let i = 0; i < of.count.length; ++i) {
    const n = of.count[i]!;
    if (n === 0) continue;
    const a = (axis.place(of.left[i]!) - start) / perColumn;
    const b = (axis.place(of.right[i]!) - start) / perColumn;
    if (a === b) {
      // The largest value of an axis is at the very end of its last column.
      const at = a === columns ? columns - 1 : Math.floor(a);
      if (at >= 0 && at < columns) spike[at]! += n;
    } else {
      spread(mass, Math.min(a, b), Math.max(a, b), n);
    }
  }
  return { mass, spike };
}

function spread(into: Float64Array, left: number, right: number, n: number): void {
  const density = n / (right - left);
  const first = Math.max(0, Math.floor(left));
  const last = Math.min(into.length - 1, Math.floor(right));
  for (let i = first; i <= last; ++i) {
    const covered = Math.min(i + 1, right) - Math.max(i, left);
    if (covered > 0) into[i]! += density * covered;
  }
}

// The highest column of each profile. A single value among spread ones (the zeros behind a ReLU) would flatten all
// others, so it counts only if there is nothing else, and is cut off at the top otherwise.
export function peak({ mass, spike }: Profile): number {
  const spread = largest(mass);
  return spread > 0 ? spread : largest(spike);
}

// The common scale of all profiles of a chart: the highest peak, unless it is far above the usual one (weights that
// start as a constant): then four times the usual, and higher peaks are cut off.
export function commonPeak(peaks: readonly number[]): number {
  const sorted = peaks.filter((p) => p > 0).sort((a, b) => a - b);
  const usual = sorted[sorted.length >> 1] ?? 1;
  return Math.min(sorted[sorted.length - 1] ?? 1, usual * 4);
}

function largest(values: Float64Array): number {
  let found = 0;
  for (const v of values) if (v > found) found = v;
  return found;
}
