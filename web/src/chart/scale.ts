// Axes: mapping from data to pixels and back, positions and labels of ticks.
import { duration, short, time } from '../ui/format';

export interface Scale {
  lo: number;
  hi: number;
  log: boolean;
  from: number; // pixel of lo
  to: number; // pixel of hi
}

// The position of a chart's axes, in pixels.
export interface Frame {
  left: number;
  top: number;
  right: number;
  bottom: number;
  x: Scale;
  y: Scale;
}

export function toPixel(scale: Scale, value: number): number {
  const { lo, hi, from, to } = scale;
  if (scale.log) {
    const at = Math.log(Math.max(value, 1e-300) / lo) / Math.log(hi / lo);
    return from + at * (to - from);
  }
  return from + ((value - lo) / (hi - lo)) * (to - from);
}

export function toValue(scale: Scale, pixel: number): number {
  const { lo, hi, from, to } = scale;
  const at = (pixel - from) / (to - from);
  return scale.log ? lo * (hi / lo) ** at : lo + at * (hi - lo);
}

// A range that can be drawn: ascending, not empty, positive for a logarithmic axis.
export function sane(lo: number, hi: number, log: boolean): [number, number] {
  if (!Number.isFinite(lo) || !Number.isFinite(hi)) return log ? [1, 10] : [0, 1];
  if (lo > hi) [lo, hi] = [hi, lo];
  if (log) {
    if (hi <= 0) return [1, 10];
    if (lo <= 0) lo = hi / 1e6;
    if (hi / lo < 1 + 1e-9) return [lo / 2, hi * 2];
    return [lo, hi];
  }
  if (hi - lo <= Math.abs(lo) * 1e-12) {
    const room = lo === 0 ? 1 : Math.abs(lo) * 0.1;
    return [lo - room, hi + room];
  }
  return [lo, hi];
}

// Adds some room above and below, but not across zero if the data does not cross it.
export function padded(lo: number, hi: number, log: boolean): [number, number] {
  if (log) {
    const room = Math.max((hi / lo) ** 0.05, 1.02);
    return [lo / room, hi * room];
  }
  const room = (hi - lo) * 0.06;
  return [lo >= 0 && lo - room < 0 ? 0 : lo - room, hi <= 0 && hi + room > 0 ? 0 : hi + room];
}

function niceStep(rough: number): number {
  const power = 10 ** Math.floor(Math.log10(rough));
  const lead = rough / power;
  return (lead <= 1 ? 1 : lead <= 2 ? 2 : lead <= 5 ? 5 : 10) * power;
}

export function linearTicks(lo: number, hi: number, most: number): number[] {
  const step = niceStep((hi - lo) / Math.max(1, most));
  if (!(step > 0) || !Number.isFinite(step)) return [];
  const ticks: number[] = [];
  for (let i = Math.ceil(lo / step - 1e-9); i * step <= hi + step * 1e-9 && ticks.length < 100; ++i)
    ticks.push(Number((i * step).toPrecision(12)));
  return ticks;
}

export function logTicks(lo: number, hi: number, most: number): number[] {
  const first = Math.ceil(Math.log10(lo) - 1e-9);
  const last = Math.floor(Math.log10(hi) + 1e-9);
  const powers = last - first + 1;
  if (powers < 2) {
    const few = linearTicks(lo, hi, most).filter((tick) => tick > 0);
    return few.length > 0 ? few : [lo, hi];
  }
  const every = Math.max(1, Math.ceil(powers / most));
  const ticks: number[] = [];
  for (let power = first; power <= last; ++power) {
    if ((power - first) % every === 0) ticks.push(10 ** power);
    if (every === 1 && powers * 3 <= most) ticks.push(2 * 10 ** power, 5 * 10 ** power);
  }
  return ticks.filter((tick) => tick >= lo * (1 - 1e-9) && tick <= hi * (1 + 1e-9));
}

const kTimes = [1, 2, 3, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200];
const kDay = 86400;

function timeStep(rough: number): number {
  if (rough < 1) return niceStep(rough);
  const found = kTimes.find((one) => one >= rough);
  return found ?? niceStep(Math.max(rough, kDay) / kDay) * kDay;
}

export type AxisKind = 'number' | 'wall' | 'relative';

export function ticksOf(scale: Scale, kind: AxisKind, most: number): number[] {
  if (scale.log) return logTicks(scale.lo, scale.hi, most);
  if (kind === 'number') return linearTicks(scale.lo, scale.hi, most);
  const step = timeStep((scale.hi - scale.lo) / Math.max(1, most));
  // Days and hours start according to the local clock.
  const shift = kind === 'wall' ? new Date(scale.lo * 1000).getTimezoneOffset() * 60 : 0;
  const ticks: number[] = [];
  for (let at = Math.ceil((scale.lo - shift) / step) * step + shift; at <= scale.hi && ticks.length < 100; at += step)
    ticks.push(at);
  return ticks;
}

const kFewSeconds = 5; // below this ticks are fractions of a second apart

export function tickText(value: number, kind: AxisKind, span: number): string {
  if (kind === 'relative') return value === 0 ? '0' : duration(value);
  if (kind === 'wall') {
    const text = time(value);
    if (span > 4 * kDay) return text.slice(5, 10);
    if (span > kDay) return text.slice(5, 16);
    if (span > 300) return text.slice(11, 16);
    if (span > kFewSeconds) return text.slice(11, 19);
    const digits = Math.min(6, Math.max(1, Math.ceil(-Math.log10(span / kFewSeconds))));
    return text.slice(14, 17) + ((value % 60) + (value < 0 ? 60 : 0)).toFixed(digits).padStart(3 + digits, '0');
  }
  // Neighbouring labels must differ: 0.97, 0.98 - not 1, 1.
  return short(value);
}
