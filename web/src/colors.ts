// Colours of runs: twelve, each with a tone of one hue for the dark and one for the light theme. They were found by a
// search: any two can be told apart in either theme, also by people who do not see red or green, by lightness and by
// how blue they are; the test beside this file measures it. Pink and orange are not among them: they mean NaN and Inf.

export interface Tone {
  dark: string;
  light: string;
}

// Ordered so that the most common names get very different colours: train blue, test amber, validation teal.
export const kPalette: readonly Tone[] = [
  { dark: '#02dac0', light: '#2e9484' }, // teal
  { dark: '#edb02b', light: '#cd810b' }, // amber
  { dark: '#8c911e', light: '#6e731f' }, // olive
  { dark: '#aa65cc', light: '#824eb8' }, // violet
  { dark: '#24c8fa', light: '#039ccf' }, // sky
  { dark: '#668c56', light: '#196435' }, // moss
  { dark: '#feaf7f', light: '#673b00' }, // earth
  { dark: '#4689fc', light: '#4a80fc' }, // blue
  { dark: '#69889c', light: '#235770' }, // slate
  { dark: '#b7edb6', light: '#529253' }, // mint
  { dark: '#1aa383', light: '#275246' }, // pine
  { dark: '#26e3f6', light: '#238a9c' }, // cyan
];

// FNV-1a, 32 bits: the same name gives the same colour in every session and on every machine.
export function hash(name: string): number {
  let h = 0x811c9dc5;
  for (let i = 0; i < name.length; ++i) h = Math.imul(h ^ name.charCodeAt(i), 0x01000193);
  h ^= h >>> 15;
  return h >>> 0;
}

// A colour for each run: the one of its name's hash, or the next one that is used least, so that a few runs never share
// one. New runs do not change existing colours: pass the previous result.
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
  // In the order of the names' hashes, not of the list: sorting the list must not change colours.
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
