// Settings of charts: common to all of them, and per chart.
import { batch, computed } from '@preact/signals';

import { axis, runByName, setCursor, stepRange, visibleRuns } from '../state';
import { type Codec, flag, json, oneOf, urlSignal } from '../url';

export type TooltipSort = 'value' | 'nearest' | 'name';

export const logX = urlSignal('logx', false, flag, { remember: true });
export const logY = urlSignal('logy', false, flag, { remember: true });
export const clip = urlSignal('clip', true, flag, { remember: true });
export const tooltipSort = urlSignal<TooltipSort>('sort', 'value', oneOf<TooltipSort>('value', 'nearest', 'name'), {
  remember: true,
});
export const showTable = urlSignal('table', false, flag, { remember: true });
export const showMean = urlSignal('mean', false, flag);
export const cardSize = urlSignal('size', 'm', oneOf('s', 'm', 'l'), { remember: true });

type Pair = readonly [number, number];
// As many digits as a thousandth of a pixel needs, to keep links readable.
function written([lo, hi]: Pair): string {
  const digits = Math.min(15, Math.max(1, Math.ceil(Math.log10(Math.max(Math.abs(lo), Math.abs(hi)) / (hi - lo))) + 7));
  return `${Number(lo.toPrecision(digits))}~${Number(hi.toPrecision(digits))}`;
}

const pair: Codec<Pair | null> = {
  write: (value) => (value === null ? '' : written(value)),
  read: (text) => {
    const [lo, hi, more] = text.split('~').map(Number);
    if (text === '') return null;
    return lo !== undefined && hi !== undefined && more === undefined && lo < hi ? [lo, hi] : undefined;
  },
};

// The visible range, in units of the axis; null: everything.
export const xRange = urlSignal<Pair | null>('x', null, pair);
// The steps that the tables show; null: the step of the cursor.
export const selected = urlSignal<Pair | null>('range', null, pair);
export const selecting = urlSignal('select', false, flag); // dragging marks a range instead of zooming

export interface CardOptions {
  logY?: boolean;
  clip?: boolean;
  y?: [number | null, number | null]; // fixed ends; null: fitted
  wide?: boolean; // two columns wide, and taller
}

const isOptions = (value: unknown): value is Record<string, CardOptions> =>
  typeof value === 'object' &&
  value !== null &&
  Object.values(value).every((one: unknown) => {
    if (typeof one !== 'object' || one === null) return false;
    const { logY: log, clip: clipped, y, wide } = one as CardOptions;
    const end = (x: unknown) => x === null || typeof x === 'number';
    const isFlag = (x: unknown) => x === undefined || typeof x === 'boolean';
    return isFlag(log) && isFlag(clipped) && isFlag(wide) && (y === undefined || (Array.isArray(y) && y.every(end)));
  });

export const cardOptions = urlSignal<Record<string, CardOptions>>('cards', {}, json(isOptions));

export function setCardOptions(id: string, change: CardOptions): void {
  const all = { ...cardOptions.peek() };
  const next = { ...all[id], ...change };
  if (next.y && next.y[0] === null && next.y[1] === null) delete next.y;
  if (next.wide === false) delete next.wide;
  if (Object.keys(next).length === 0) delete all[id];
  else all[id] = next;
  cardOptions.value = all;
}

// The full range of the visible runs, in units of the axis.
export const wholeRange = computed<Pair>(() => {
  if (axis.value === 'step') return stepRange.value;
  let lo = Infinity;
  let hi = -Infinity;
  for (const name of visibleRuns.value) {
    const run = runByName.value.get(name);
    if (run?.started == null || run.last_time == null) continue;
    lo = Math.min(lo, axis.value === 'wall' ? run.started : 0);
    hi = Math.max(hi, axis.value === 'wall' ? run.last_time : run.last_time - run.started);
  }
  return [lo, hi];
});

// Zooming out stops when everything is in view, panning at the ends.
export function zoomTo([lo, hi]: Pair): void {
  const [first, last] = wholeRange.peek();
  if (!(hi - lo > Math.abs(lo) * 1e-12)) return;
  if (lo <= first && hi >= last) xRange.value = null;
  else if (hi > first && lo < last) xRange.value = [lo, hi];
}

export function resetZoom(): void {
  xRange.value = null;
}

export function selectRange(range: Pair | null): void {
  batch(() => {
    selected.value = range;
    if (range) {
      showTable.value = true;
      setCursor(range[1]);
    }
  });
}
