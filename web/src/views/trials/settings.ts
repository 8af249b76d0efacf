// Settings of the trials view: in the address, so that a link shows the same picture.
import { signal } from '@preact/signals';

import { json, list, oneOf, text, urlSignal } from '../../url';
import { type Brushes, isBrushes, type ScaleName } from './axes';
import type { Stat } from './columns';

// Columns are named as in columns.ts; empty: the suggested ones.
export const chosenAxes = urlSignal<string[]>('taxes', [], list);
export const colourBy = urlSignal('tcolor', '', text);
export const scatterX = urlSignal('tx', '', text);
export const scatterY = urlSignal('ty', '', text);
export const scatterShape = urlSignal<'one' | 'matrix'>('tscatter', 'one', oneOf<'one' | 'matrix'>('one', 'matrix'));
export const sortBy = urlSignal('tsort', '', text); // "-h:lr": the largest first; empty: by name
export const stat = urlSignal<Stat>('tvalue', 'last', oneOf<Stat>('last', 'best'), { remember: true });
export const brushes = urlSignal<Brushes>('tkeep', {}, json(isBrushes));

const isScales = (value: unknown): value is Record<string, ScaleName> =>
  typeof value === 'object' && value !== null && Object.values(value).every((one) => one === 'linear' || one === 'log');
export const scales = urlSignal<Record<string, ScaleName>>('tscales', {}, json(isScales)); // only those that were chosen

// The trial under the pointer, in any of the charts or the table.
export const hovered = signal<string | null>(null);
