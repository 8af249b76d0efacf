// Numbers and names for people. Thousands separators; three to four significant digits.

const whole = new Intl.NumberFormat('en-US', { maximumFractionDigits: 0 });
const kMinus = '\u2212';
const sign = (text: string) => text.replace('-', kMinus);

// A step or a count: 62,113.
export const integer = (value: number): string => (Number.isFinite(value) ? sign(whole.format(value)) : special(value));

function special(value: number): string {
  return Number.isNaN(value) ? 'NaN' : value > 0 ? 'Inf' : `${kMinus}Inf`;
}

// A value: 0.0412, 1,204, 1.73, 3.1e-7, NaN, Inf. `digits` are significant ones.
export function value(x: number | null | undefined, digits = 4): string {
  if (x === null || x === undefined) return '';
  if (!Number.isFinite(x)) return special(x);
  const size = Math.abs(x);
  if (size !== 0 && (size < 1e-3 || size >= 1e7)) {
    const [mantissa = '', exponent = ''] = x.toExponential(digits - 1).split('e');
    return sign(`${trim(mantissa)}e${exponent.replace('+', '')}`);
  }
  if (size >= 10 ** (digits - 1)) return integer(Math.round(x));
  return sign(trim(x.toPrecision(digits)));
}

const trim = (text: string) => (text.includes('.') ? text.replace(/\.?0+$/, '') : text);

// For axes: 0, 20k, 1.5M, 1e-3.
export function short(x: number): string {
  if (!Number.isFinite(x)) return special(x);
  const size = Math.abs(x);
  if (size === 0) return '0';
  if (size >= 1e15 || size < 1e-3) {
    const [mantissa = '', exponent = ''] = x.toExponential(3).split('e');
    return sign(`${trim(mantissa)}e${exponent.replace('+', '')}`);
  }
  for (const [unit, name] of kUnits) if (size >= unit) return sign(trim((x / unit).toPrecision(6))) + name;
  return sign(trim(x.toPrecision(6)));
}
const kUnits: [number, string][] = [
  [1e12, 'T'],
  [1e9, 'G'],
  [1e6, 'M'],
  [1e3, 'k'],
];

export function bytes(n: number): string {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
  let at = 0;
  while (n >= 1024 && at < units.length - 1) {
    n /= 1024;
    ++at;
  }
  return `${at === 0 ? n : value(n, 3)} ${units[at]}`;
}

// 41 s, 3 m 20 s, 2 h 5 m, 3 d 4 h.
export function duration(seconds: number): string {
  if (!Number.isFinite(seconds)) return '';
  const s = Math.abs(seconds);
  const before = seconds < 0 ? kMinus : '';
  if (s < 1) return `${before}${value(s * 1000, 3)} ms`;
  if (s < 60) return `${before}${value(s, 3)} s`;
  const parts: [number, string][] = [
    [Math.floor(s / 86400), 'd'],
    [Math.floor(s / 3600) % 24, 'h'],
    [Math.floor(s / 60) % 60, 'm'],
    [Math.floor(s) % 60, 's'],
  ];
  const from = parts.findIndex(([n]) => n > 0);
  return (
    before +
    parts
      .slice(from, from + 2)
      .filter(([n]) => n > 0)
      .map(([n, unit]) => `${n} ${unit}`)
      .join(' ')
  );
}

const kFewDays = 4 * 86400;
const pad = (n: number) => String(n).padStart(2, '0');

// Local date and time: 2026-11-16 12:30:05.
export function time(seconds: number | null | undefined): string {
  if (seconds === null || seconds === undefined || !Number.isFinite(seconds)) return '';
  const d = new Date(seconds * 1000);
  return `${d.getFullYear()}-${pad(d.getMonth() + 1)}-${pad(d.getDate())} ${pad(d.getHours())}:${pad(d.getMinutes())}:${pad(d.getSeconds())}`;
}

// "3 m 20 s ago"; the date if it is more than a few days ago.
export function ago(seconds: number, now = Date.now() / 1000): string {
  const passed = now - seconds;
  if (passed > kFewDays) return time(seconds).slice(0, 10);
  return passed < 2 ? 'now' : `${duration(passed < 60 ? Math.round(passed) : passed)} ago`;
}

// Shortened in the middle: names differ at both ends.
export function middle(name: string, most: number): string {
  if (name.length <= most) return name;
  if (most <= 1) return '…';
  const tail = Math.ceil((most - 1) / 2);
  return `${name.slice(0, most - 1 - tail)}…${name.slice(name.length - tail)}`;
}

// The class of a number: pink for NaN and orange for an infinity, wherever it is shown.
export const badClass = (x: number | null | undefined): string =>
  x === null || x === undefined || Number.isFinite(x) ? '' : Number.isNaN(x) ? 'bad' : 'inf';

// The same for several names, which stay different: they get more room until they are.
export function middles(names: readonly string[], most: number): string[] {
  const different = new Set(names).size;
  const longest = Math.max(0, ...names.map((name) => name.length));
  for (let room = most; ; room += 6) {
    const made = names.map((name) => middle(name, room));
    if (room >= longest || new Set(made).size === different) return made;
  }
}

export const plural = (n: number, one: string, many = `${one}s`) => `${integer(n)} ${n === 1 ? one : many}`;
