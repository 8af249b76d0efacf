// Positions of values and steps on an axis, and its labels. Pure: no canvas.

export type Scale = 'linear' | 'log';

export interface Axis {
  low: number; // value at the position `from`
  high: number; // value at the position `to`
  from: number; // CSS pixels
  to: number;
  place(value: number): number; // in CSS pixels
  value(place: number): number;
  ticks: number[];
}

// Monotonic, and the same for a whole axis.
interface Transform {
  forward(value: number): number;
  back(t: number): number;
}

const kLinear: Transform = { forward: (v) => v, back: (t) => t };
const kLogarithm: Transform = { forward: Math.log10, back: (t) => 10 ** t };

// Linear near zero, logarithmic beyond `threshold`, the same on both sides.
function symmetric(threshold: number): Transform {
  const half = threshold * 2;
  return { forward: (v) => Math.asinh(v / half), back: (t) => Math.sinh(t) * half };
}

function make(low: number, high: number, from: number, to: number, transform: Transform, ticks: number[]): Axis {
  const a = transform.forward(low);
  const b = transform.forward(high);
  const perUnit = (to - from) / (b - a);
  return {
    low,
    high,
    from,
    to,
    place: (value) => from + (transform.forward(value) - a) * perUnit,
    value: (place) => transform.back(a + (place - from) / perUnit),
    ticks,
  };
}

// Adds room around a single value, so that it is drawn in the middle.
function widen(low: number, high: number): [number, number] {
  if (low < high) return [low, high];
  const room = low === 0 ? 1 : Math.abs(low) * 0.5;
  return [low - room, low + room];
}

export function linearAxis(low: number, high: number, from: number, to: number, most = 6): Axis {
  const [a, b] = widen(low, high);
  return make(a, b, from, to, kLinear, niceTicks(a, b, most));
}

// `threshold`: below it the axis is linear, if it includes zero or both signs.
export function logAxis(low: number, high: number, threshold: number, from: number, to: number, most = 6): Axis {
  const [a, b] = widen(low, high);
  if (a > 0) return make(a, b, from, to, kLogarithm, decades(a, b, most));
  const smallest = Math.max(threshold, Math.max(Math.abs(a), Math.abs(b)) * 1e-15, Number.MIN_VALUE);
  const transform = symmetric(smallest);
  return make(a, b, from, to, transform, symmetricTicks(a, b, smallest, most));
}

// At most `most` round numbers (1, 2 or 5 times a power of ten apart) from low to high.
export function niceTicks(low: number, high: number, most: number): number[] {
  const span = high - low;
  if (!(span > 0) || !Number.isFinite(span)) return Number.isFinite(low) ? [low] : [];
  const rough = span / Math.max(1, most);
  const power = Math.floor(Math.log10(rough));
  for (const [factor, exponent] of [[1, power], [2, power], [5, power], [1, power + 1], [2, power + 1]] as const) {
    const ticks = multiples(low, high, factor, exponent);
    if (ticks.length <= most) return ticks;
  }
  return [];
}

// Multiples of factor * 10^exponent. For a negative exponent it divides, since 0.1 is not exact.
function multiples(low: number, high: number, factor: number, exponent: number): number[] {
  const scale = 10 ** Math.abs(exponent);
  const at = (n: number): number => (exponent < 0 ? (n * factor) / scale : n * factor * scale);
  const unit = at(1);
  if (!(unit > 0)) return [];
  const found: number[] = [];
  const slack = (high - low) * 1e-9;
  for (let n = Math.ceil((low - slack) / unit); at(n) <= high + slack && found.length < 1000; ++n) found.push(at(n));
  return found.map((v) => (v === 0 ? 0 : v)); // no minus zero
}

function decades(low: number, high: number, most: number): number[] {
  const first = Math.ceil(Math.log10(low) - 1e-9);
  const last = Math.floor(Math.log10(high) + 1e-9);
  if (last - first < 1) return niceTicks(low, high, most);
  const every = Math.ceil((last - first + 1) / most);
  const found: number[] = [];
  for (let power = first; power <= last; power += every) found.push(Number(`1e${power}`));
  return found;
}

function symmetricTicks(low: number, high: number, threshold: number, most: number): number[] {
  const least = Math.ceil(Math.log10(threshold) + 0.3); // closer ones would touch zero
  const side = (limit: number): number => (limit > 0 ? Math.max(0, Math.floor(Math.log10(limit) + 1e-9) - least + 1) : 0);
  const both = side(high) + side(-low);
  const every = Math.max(1, Math.ceil(both / Math.max(1, most - 1)));
  const found: number[] = [];
  // From the outside in: the largest decade matters most.
  for (const sign of [-1, 1]) {
    const limit = sign < 0 ? -low : high;
    const powers: number[] = [];
    for (let power = least + side(limit) - 1; power >= least; power -= every) powers.push(sign * Number(`1e${power}`));
    if (sign > 0) powers.reverse();
    if (sign > 0 && low <= 0 && high >= 0) found.push(0);
    found.push(...powers);
  }
  return found.length > 1 ? found : niceTicks(low, high, most);
}

// Where a logarithmic axis becomes linear: 1 % of the values are below, so that the axis spends its room on decades
// that hold something. Computed from the bins' centres, weighted with their counts.
export function logThreshold(bins: Iterable<{ left: Float64Array; right: Float64Array; count: Float64Array }>): number {
  const sizes: [number, number][] = [];
  let total = 0;
  for (const { left, right, count } of bins) {
    for (let i = 0; i < count.length; ++i) {
      const size = Math.abs(left[i]! / 2 + right[i]! / 2);
      if (count[i] === 0 || size === 0) continue;
      sizes.push([size, count[i]!]);
      total += count[i]!;
    }
  }
  sizes.sort((a, b) => a[0] - b[0]);
  let below = 0;
  for (const [size, n] of sizes) {
    below += n;
    if (below >= total / 100) return size;
  }
  return 1;
}
