// Colours of runs: twelve hues that stay apart for the common kinds of colour blindness, each with a tone for the dark
// and one for the light theme (contrast to the card of at least 4.5). Pink and orange are not among them: they say NaN
// and Inf.

export interface Tone {
  dark: string;
  light: string;
}

export const kPalette: readonly Tone[] = [
  { dark: '#4ea1ff', light: '#1a6ed8' }, // blue
  { dark: '#f5bf4f', light: '#946200' }, // amber
  { dark: '#3ddcb0', light: '#00805f' }, // teal
  { dark: '#c79bff', light: '#7c4dcc' }, // violet
  { dark: '#d4e157', light: '#6b7400' }, // citron
  { dark: '#7fd6ff', light: '#00799f' }, // sky
  { dark: '#a5d46a', light: '#4c7d00' }, // lime
  { dark: '#d9a58b', light: '#8e5a3c' }, // sand
  { dark: '#9fb0ff', light: '#4a55c8' }, // indigo
  { dark: '#5fc5c9', light: '#13767b' }, // petrol
  { dark: '#d7b8e0', light: '#8a5a99' }, // mauve
  { dark: '#b9c3cf', light: '#5f6b78' }, // slate
];

// FNV-1a, 32 bits: the same name gives the same colour in every session and on every machine.
export function hash(name: string): number {
  let h = 0x811c9dc5;
  for (let i = 0; i < name.length; ++i) h = Math.imul(h ^ name.charCodeAt(i), 0x01000193);
  h ^= h >>> 15;
  return h >>> 0;
}

// A colour for each run: its own by the hash of its name, or the next that is least used, so that a few runs never
// share one. Runs that come later do not change those that have one already: pass what was given before.
export function assignColors(names: readonly string[], given: ReadonlyMap<string, number>): Map<string, number> {
  const count = kPalette.length;
  const used = new Array<number>(count).fill(0);
  const result = new Map<string, number>();
  for (const name of names) {
    const before = given.get(name);
    if (before === undefined) continue;
    result.set(name, before);
    used[before] = (used[before] ?? 0) + 1;
  }
  // In the order of the names' hashes, not of the list: sorting the list must not move colours.
  const fresh = names.filter((name) => !result.has(name)).sort((a, b) => hash(a) - hash(b) || (a < b ? -1 : 1));
  for (const name of fresh) {
    const least = Math.min(...used);
    let at = hash(name) % count;
    while ((used[at] ?? 0) > least) at = (at + 1) % count;
    result.set(name, at);
    used[at] = (used[at] ?? 0) + 1;
  }
  return result;
}
