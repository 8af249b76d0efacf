// Settings of the distributions view: in the address, and remembered.
import { type Codec, list, oneOf, urlSignal } from '../../url';
import type { Scale } from './axis';
import type { Heights, Reach } from './plot';

export type Mode = 'ridgeline' | 'overlay' | 'heatmap' | 'bands';
export type Source = 'auto' | 'histograms' | 'statistics';
export type Together = 'side' | 'together';

const kept = { remember: true };
export const mode = urlSignal<Mode>('dist', 'heatmap', oneOf<Mode>('ridgeline', 'overlay', 'heatmap', 'bands'), kept);
export const scale = urlSignal<Scale>('dscale', 'linear', oneOf<Scale>('linear', 'log'), kept);
export const heights = urlSignal<Heights>('dheights', 'shared', oneOf<Heights>('shared', 'each'), kept);
export const reach = urlSignal<Reach>('dreach', 'usual', oneOf<Reach>('all', 'usual'), kept);
export const together = urlSignal<Together>('druns', 'side', oneOf<Together>('side', 'together'), kept);
export const source = urlSignal<Source>('dsource', 'auto', oneOf<Source>('auto', 'histograms', 'statistics'), kept);
export const closedGroups = urlSignal<string[]>('dclosed', [], list);

// The visible steps of all cards; null: all steps.
export type StepWindow = readonly [number, number] | null;

const windowCodec: Codec<StepWindow> = {
  write: (value) => (value ? value.join(',') : ''),
  read: (text) => {
    const [first, last, more] = text.split(',').map(Number);
    const sound = Number.isSafeInteger(first) && Number.isSafeInteger(last) && first! <= last! && more === undefined;
    return text === '' ? null : sound ? [first!, last!] : undefined;
  },
};
export const stepWindow = urlSignal<StepWindow>('dsteps', null, windowCodec);
