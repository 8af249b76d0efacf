// The page's state is in the fragment of its address, `#/<view>?key=value&...`: a link shows the same picture.
//
// Keys that a link does not name have their built-in default, even if the browser remembers other settings; a bare
// address, without a fragment, starts with the remembered settings.
import { type Signal, effect, signal } from '@preact/signals';

import { paced } from './pace';

export interface Codec<Value> {
  write(value: Value): string;
  read(text: string): Value | undefined; // undefined: invalid, the default is used
}

export const text: Codec<string> = { write: (value) => value, read: (value) => value };
export const flag: Codec<boolean> = {
  write: (value) => (value ? '1' : '0'),
  read: (value) => (value === '1' ? true : value === '0' ? false : undefined),
};
export const number: Codec<number> = {
  write: String,
  read: (value) => (value !== '' && Number.isFinite(Number(value)) ? Number(value) : undefined),
};
// Values beyond the ends are clamped.
export const numberIn = (least: number, most: number): Codec<number> => ({
  write: String,
  read: (value) => {
    const found = number.read(value);
    return found === undefined ? undefined : Math.min(Math.max(found, least), most);
  },
});
export const optional = (codec: Codec<number>): Codec<number | null> => ({
  write: (value) => (value === null ? '' : codec.write(value)),
  read: (value) => (value === '' ? null : codec.read(value)),
});
export function oneOf<Value extends string>(...allowed: Value[]): Codec<Value> {
  return { write: (value) => value, read: (value) => allowed.find((one) => one === value) };
}
// Commas and percent signs inside an item are escaped, so that names may contain anything.
const escape = (item: string) => item.replace(/[%,]/g, (c) => (c === '%' ? '%25' : '%2C'));
const unescape = (item: string) => item.replace(/%2C/g, ',').replace(/%25/g, '%');
export const list: Codec<string[]> = {
  write: (value) => value.map((item) => (item === '' ? '%' : escape(item))).join(','),
  read: (value) => (value === '' ? [] : value.split(',').map((item) => (item === '%' ? '' : unescape(item)))),
};
export const json = <Value>(valid: (value: unknown) => value is Value): Codec<Value> => ({
  write: (value) => JSON.stringify(value),
  read: (value) => {
    try {
      const found: unknown = JSON.parse(value);
      return valid(found) ? found : undefined;
    } catch {
      return undefined;
    }
  },
});

interface Place {
  view: string;
  values: Map<string, string>;
}

export function parseFragment(fragment: string): Place {
  const bare = fragment.replace(/^#\/?/, '');
  const mark = bare.indexOf('?');
  const view = mark < 0 ? bare : bare.slice(0, mark);
  return { view, values: new Map(mark < 0 ? [] : new URLSearchParams(bare.slice(mark + 1))) };
}

export function writeFragment(view: string, values: Map<string, string>): string {
  const pairs = [...values].sort(([a], [b]) => (a < b ? -1 : 1));
  // URLSearchParams escapes more than a fragment needs: keep links readable.
  const written = new URLSearchParams(pairs)
    .toString()
    .replace(/%2F/g, '/')
    .replace(/%2C/g, ',')
    .replace(/%3A/g, ':')
    .replace(/%7E/g, '~');
  return `#/${view}${written ? `?${written}` : ''}`;
}

const kStore = 'sonde.';
const bare = () => typeof location === 'undefined' || location.hash.length <= 1;

function remembered(key: string): string | null {
  try {
    return localStorage.getItem(kStore + key);
  } catch {
    return null; // storage may be forbidden
  }
}

function remember(key: string, value: string | null): void {
  try {
    if (value === null) localStorage.removeItem(kStore + key);
    else localStorage.setItem(kStore + key, value);
  } catch {
    // Storage may be blocked or full: the setting lasts as long as the page.
  }
}

let place: Place = bare() ? { view: '', values: new Map() } : parseFragment(location.hash);
const startedBare = bare();
const entries = new Map<string, { read: (text: string | undefined) => void }>();

export const view = signal(place.view);

let lastView = place.view;
function writeAddress(): void {
  const fragment = writeFragment(view.peek(), place.values);
  if (fragment === location.hash) return;
  if (lastView !== '' && lastView !== view.peek()) history.pushState(null, '', fragment);
  else history.replaceState(null, '', fragment);
  lastView = view.peek();
}
const address = paced(writeAddress);
function plan(): void {
  if (typeof location !== 'undefined') address.plan();
}

export interface UrlOptions {
  remember?: boolean; // also a setting: starts with the last choice
}

// A signal whose value is stored under `key` in the address.
export function urlSignal<Value>(
  key: string,
  initial: Value,
  codec: Codec<Value>,
  options: UrlOptions = {},
): Signal<Value> {
  const usual = codec.write(initial);
  const written = place.values.get(key) ?? (startedBare && options.remember ? remembered(key) : null);
  const state = signal<Value>(written === null ? initial : (codec.read(written) ?? initial));
  entries.set(key, {
    read: (text) => {
      const next = text === undefined ? initial : (codec.read(text) ?? initial);
      if (codec.write(next) !== codec.write(state.peek())) state.value = next;
    },
  });
  let first = true;
  effect(() => {
    const now = codec.write(state.value);
    if (now === usual) place.values.delete(key);
    else place.values.set(key, now);
    if (!first && options.remember) remember(key, now === usual ? null : now);
    first = false;
    plan();
  });
  return state;
}

// A setting of the user, not of the picture: remembered, never in a link.
export function localSignal<Value>(key: string, initial: Value, codec: Codec<Value>): Signal<Value> {
  const kept = remembered(key);
  const state = signal<Value>(kept === null ? initial : (codec.read(kept) ?? initial));
  let first = true;
  effect(() => {
    const now = codec.write(state.value);
    if (!first) remember(key, now);
    first = false;
  });
  return state;
}

effect(() => {
  void view.value;
  plan();
});

if (typeof window !== 'undefined') {
  window.addEventListener('hashchange', () => {
    place = parseFragment(location.hash);
    lastView = place.view;
    view.value = place.view;
    for (const [key, entry] of entries) entry.read(place.values.get(key));
  });
  // If the user leaves during a change, it is saved.
  window.addEventListener('pagehide', address.flush);
  document.addEventListener('visibilitychange', () => document.hidden && address.flush());
}
