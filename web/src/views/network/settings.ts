// The choices of the network view: in the address, and where they are habits, remembered.
import { type Codec, flag, list, oneOf, text, urlSignal } from '../../url';
import { isStatistic } from './statistics';

export type Against = 'absolute' | 'past' | 'difference';
export type Cell = 'mean' | 'max' | 'min';
export type Sort = 'order' | 'name' | 'value' | 'spikes' | 'bad';
export type Height = 'fit' | 'names';

const kept = { remember: true };
export const kind = urlSignal('nkind', '', text); // '': the first that exists
export const statistic = urlSignal('nstat', 'rms', { write: (id) => id, read: (id) => (isStatistic(id) ? id : undefined) }, kept);
export const against = urlSignal<Against>('nagainst', 'absolute', oneOf<Against>('absolute', 'past', 'difference'));
export const cell = urlSignal<Cell>('ncell', 'mean', oneOf<Cell>('mean', 'max', 'min'), kept);
export const sort = urlSignal<Sort>('nsort', 'order', oneOf<Sort>('order', 'name', 'value', 'spikes', 'bad'));
export const depth = urlSignal('ngroup', '0', oneOf('0', '1', '2', '3')); // parts of a name that make a module; 0: no groups
export const opened = urlSignal<string[]>('nopen', [], list); // groups whose members are shown
export const height = urlSignal<Height>('nheight', 'fit', oneOf<Height>('fit', 'names'), kept);
export const spikes = urlSignal('nspikes', true, flag, kept);
export const runA = urlSignal('nrun', '', text); // '': the first visible one
export const runB = urlSignal('nwith', '', text); // '': none
export const layer = urlSignal('layer', '', text); // the tag of the row with the cell cursor
export const panel = urlSignal('npanel', false, flag); // the chosen tensor beside the map

// The visible steps; null: all. Fractions of a step are kept, so that a long zoom does not drift.
export type Steps = readonly [number, number];
const stepsCodec: Codec<Steps | null> = {
  write: (value) => (value ? value.map((x) => Number(x.toFixed(2))).join('~') : ''),
  read: (written) => {
    if (written === '') return null;
    const [lo, hi, more] = written.split('~').map(Number);
    return lo !== undefined && hi !== undefined && more === undefined && lo < hi && Math.abs(lo) < 1e15 && Math.abs(hi) < 1e15
      ? [lo, hi]
      : undefined;
  },
};
export const steps = urlSignal<Steps | null>('nsteps', null, stepsCodec);
export const colours = urlSignal<Steps | null>('ncolours', null, {
  write: (value) => (value ? value.join('~') : ''),
  read: (written) => {
    const [lo, hi, more] = written.split('~').map(Number);
    return written === '' ? null : lo !== undefined && hi !== undefined && more === undefined && lo < hi ? [lo, hi] : undefined;
  },
}); // the ends of the colour scale; null: from the data
