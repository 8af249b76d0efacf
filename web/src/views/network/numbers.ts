// The numbers of one tensor at one step, in words.
import { num } from '../../api';
import { integer, value } from '../../ui/format';
import type { CellAnswer } from './api';

export const kDigits = 6; // significant ones: what was recorded can be compared with other tools

export const percent = (share: number): string => (share === 0 ? '0 %' : `${value(100 * share, 3)} %`);

export const shapeText = (shape: readonly number[]): string => `[${shape.join(', ')}]`;

// Statistics of the record, each with its name.
export function recordedNumbers(cell: CellAnswer): [string, string][] {
  const finite = cell.count - cell.nan - cell.positive_infinity - cell.negative_infinity;
  const [mean, std] = [num(cell.mean), num(cell.std)];
  const rms = Math.hypot(mean, std);
  const peak = Math.max(Math.abs(num(cell.min)), Math.abs(num(cell.max)));
  const show = (x: number) => (Number.isNaN(x) ? '–' : value(x, kDigits));
  const rows: [string, string][] = [
    ['rms', show(rms)],
    ['mean |x|', show(finite > 0 ? num(cell.sum_abs) / finite : NaN)],
    ['mean', show(mean)],
    ['std', show(std)],
    ['min', show(num(cell.min))],
    ['max', show(num(cell.max))],
    ['peak factor', show(peak / rms)],
    ['zeros', `${integer(cell.zeros)} (${percent(cell.zeros / cell.count)})`],
    ['negatives', `${integer(cell.negatives)} (${percent(cell.negatives / cell.count)})`],
    ['NaN', integer(cell.nan)],
    ['+Inf', integer(cell.positive_infinity)],
    ['−Inf', integer(cell.negative_infinity)],
    ['elements', integer(cell.count)],
  ];
  return rows;
}

const kTypes: Record<string, string> = { f16: 'fp16', bf16: 'bf16', f8_e4m3: 'fp8 e4m3', f8_e5m2: 'fp8 e5m2' };

const bounds = ([low, high]: [number, number]): string => (low === high ? percent(low) : `${percent(low)} to ${percent(high)}`);

// What casts would lose, from the histogram: bounds where a limit falls inside a bin.
export function castNumbers(cell: CellAnswer): [string, string][] {
  return Object.entries(cell.casts).map(([type, { overflow, underflow }]) => [
    kTypes[type] ?? type,
    overflow[1] === 0 && underflow[1] === 0 ? 'safe' : `overflow ${bounds(overflow)}, to zero ${bounds(underflow)}`,
  ]);
}
