// The visible runs: all except some, or only some - depending on the user's clicks, so that links stay short and new
// runs appear by themselves unless the user chose otherwise.
import { type Codec, list } from './url';

export interface Selection {
  only: boolean;
  names: ReadonlySet<string>;
}

export const isSelected = (selection: Selection, run: string): boolean => selection.names.has(run) === selection.only;

export function toggled(selection: Selection, runs: readonly string[], shown: boolean): Selection {
  const names = new Set(selection.names);
  for (const run of runs) {
    if (shown === selection.only) names.add(run);
    else names.delete(run);
  }
  return { only: selection.only, names };
}

export const solo = (runs: readonly string[]): Selection => ({ only: true, names: new Set(runs) });
export const everything: Selection = { only: false, names: new Set() };

// `-a,b`: all except these; `+a,b`: only these.
export const selectionCodec: Codec<Selection> = {
  write: ({ only, names }) => (!only && names.size === 0 ? '' : (only ? '+' : '-') + list.write([...names])),
  read: (text) => {
    if (text === '') return everything;
    if (text[0] !== '+' && text[0] !== '-') return undefined;
    return { only: text[0] === '+', names: new Set(list.read(text.slice(1))) };
  },
};
