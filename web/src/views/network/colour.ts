// Values to colours: a table of 256 colours, and the range that it covers.
import { viridisAt } from '../../viridis';

export interface Scale {
  lo: number; // in the units that are shown
  hi: number;
  log: boolean;
  diverging: boolean; // blue below the middle, red above
}

type Rgb = readonly [number, number, number];

export function packed([r, g, b]: Rgb): number {
  return ((255 << 24) | (b << 16) | (g << 8) | r) >>> 0; // bytes r, g, b, a in memory
}

export function rgbOf(css: string): Rgb {
  const hex = /^#([0-9a-f]{6})$/i.exec(css.trim())?.[1];
  if (hex === undefined) return [136, 136, 136];
  return [0, 2, 4].map((at) => parseInt(hex.slice(at, at + 2), 16)) as unknown as Rgb;
}

const mix = (a: Rgb, b: Rgb, t: number): Rgb => [0, 1, 2].map((i) => Math.round(a[i]! + (b[i]! - a[i]!) * t)) as unknown as Rgb;

// Blue, neutral, red: both ends can be told apart also by people who do not see red or green, by lightness around the
// middle. The middle recedes into the background of the theme.
export function divergingAt(t: number, dark: boolean): Rgb {
  const low: Rgb = dark ? [92, 164, 255] : [20, 82, 196];
  const high: Rgb = dark ? [255, 106, 84] : [196, 34, 20];
  const middle: Rgb = dark ? [38, 46, 52] : [240, 243, 245];
  const away = Math.min(1, Math.abs(t - 0.5) * 2);
  return mix(middle, t < 0.5 ? low : high, away);
}

export function tableOf(diverging: boolean, dark: boolean): Uint32Array {
  const table = new Uint32Array(256);
  for (let i = 0; i < 256; ++i) table[i] = packed(diverging ? divergingAt(i / 255, dark) : viridisAt(i / 255));
  return table;
}

// The position of a value on the scale, 0 to 1. Zero and less are at the lower end of a logarithmic one.
export function positionOf(scale: Scale, value: number): number {
  const { lo, hi, log } = scale;
  if (!log) return hi > lo ? (value - lo) / (hi - lo) : 0.5;
  if (value <= 0) return 0;
  return hi > lo ? Math.log(value / lo) / Math.log(hi / lo) : 0.5;
}

const kMostSampled = 20_000;

// The range of the inner 98 % of some values; of a logarithmic scale, of those above zero.
export function rangeOf(values: Float32Array | readonly number[], log: boolean, diverging: boolean, middle = 0): readonly [number, number] {
  const stride = Math.max(1, Math.floor(values.length / kMostSampled));
  const sample: number[] = [];
  for (let i = 0; i < values.length; i += stride) {
    const value = values[i]!;
    if (Number.isFinite(value) && (!log || value > 0)) sample.push(value);
  }
  if (sample.length === 0) return log ? [0.1, 1] : diverging ? [-1, 1] : [0, 1];
  sample.sort((a, b) => a - b);
  const at = (q: number) => sample[Math.min(sample.length - 1, Math.max(0, Math.round(q * (sample.length - 1))))]!;
  let lo = at(0.01);
  let hi = at(0.99);
  if (diverging) {
    const reach = Math.max(Math.abs(lo - middle), Math.abs(hi - middle)) || 1;
    return [middle - reach, middle + reach];
  }
  if (lo === hi) {
    // One value: a scale around it.
    lo = log ? lo / 2 : lo - (Math.abs(lo) || 1) / 2;
    hi = log ? hi * 2 : hi + (Math.abs(hi) || 1) / 2;
  }
  return [lo, hi];
}
