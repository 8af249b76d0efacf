// The data of one chart: requested when its window changes and when its runs have new data.
import { effect } from '@preact/signals';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';

import * as api from '../api';
import type { Band, Series, SeriesKey, Window } from '../api_types';
import { change } from '../live';

export interface Wanted {
  series: SeriesKey[];
  groups: { tag: string; runs: string[] }[];
  window: Window | null; // null: not yet known, or off screen
}

export interface ChartData {
  key: string; // of the request
  wanted: Wanted;
  series: Series[];
  bands: Band[];
}

const kPace = 150; // ms between two requests of one chart while its runs grow

export interface Asked {
  data: ChartData | null; // the last answer: drawn, stretched, until the next arrives
  ready: boolean; // it matches the window
  error: string | null;
}

// Answers of one window, by what they are about.
class Known<Value> {
  private values = new Map<string, { runs: readonly string[]; value: Value }>();

  outdate(changed: ReadonlySet<string> | null): void {
    for (const [key, { runs }] of this.values)
      if (changed === null || runs.some((run) => changed.has(run))) this.values.delete(key);
  }
  // The values of all keys; only those are asked for that are not known. Forgets the others.
  async all<Key>(keys: readonly Key[], runsOf: (key: Key) => readonly string[], ask: (key: Key) => Promise<Value>): Promise<Value[]> {
    const before = this.values;
    this.values = new Map();
    const texts = keys.map((key) => JSON.stringify(key));
    const found = await Promise.all(keys.map((key, i) => before.get(texts[i] as string)?.value ?? ask(key)));
    // Runs that changed meanwhile are asked for again anyway: see `touch`.
    keys.forEach((key, i) => this.values.set(texts[i] as string, { runs: runsOf(key), value: found[i] as Value }));
    return found;
  }
}

// At most one request of a chart is in flight; the newest window is requested next. So the chart follows a long wheel
// gesture as fast as the server answers, and nothing is requested twice: when runs appear or grow, only their lines are.
class Loader {
  private running: AbortController | null = null;
  private wanted: Wanted | null = null;
  private key = '';
  private doneKey = '';
  private doneWindow = '';
  private dirty = false;
  private changed: Set<string> | null = new Set(); // runs, since the last request; null: all
  private readonly series = new Known<Series>();
  private readonly bands = new Known<Band>();
  private timer: ReturnType<typeof setTimeout> | undefined;
  private began = 0;

  constructor(private readonly done: (data: ChartData | null, error: string | null) => void) {}

  want(wanted: Wanted, key: string): void {
    this.wanted = wanted;
    this.key = key;
    this.next();
  }
  touch(runs: ReadonlySet<string> | null): void {
    this.dirty = true;
    if (runs === null) this.changed = null;
    else for (const run of runs) this.changed?.add(run);
    this.next();
  }
  concerns(runs: ReadonlySet<string>): boolean {
    return (
      (this.wanted?.series.some((one) => runs.has(one.run)) ?? false) ||
      (this.wanted?.groups.some((group) => group.runs.some((run) => runs.has(run))) ?? false)
    );
  }
  stop(): void {
    clearTimeout(this.timer);
    this.running?.abort();
    this.running = null;
    this.wanted = null;
  }

  private next(): void {
    if (this.running || !this.wanted?.window) return;
    clearTimeout(this.timer);
    if (this.key !== this.doneKey) void this.ask(this.wanted, this.key, this.wanted.window);
    else if (this.dirty) {
      const wait = this.began + kPace - performance.now();
      if (wait > 0) this.timer = setTimeout(() => this.next(), wait);
      else void this.ask(this.wanted, this.key, this.wanted.window);
    }
  }

  private async ask(wanted: Wanted, key: string, window: Window): Promise<void> {
    const controller = new AbortController();
    this.running = controller;
    const windowKey = JSON.stringify(window);
    const outdated = windowKey === this.doneWindow ? this.changed : null;
    this.series.outdate(outdated);
    this.bands.outdate(outdated);
    this.doneWindow = windowKey;
    this.dirty = false;
    this.changed = new Set();
    this.began = performance.now();
    try {
      const [series, bands] = await Promise.all([
        this.series.all(wanted.series, ({ run }) => [run], (one) => api.series(one, window, controller.signal)),
        this.bands.all(wanted.groups, ({ runs }) => runs, ({ tag, runs }) => api.band(tag, runs, window, controller.signal)),
      ]);
      if (controller.signal.aborted) return;
      this.done({ key, wanted, series, bands }, null);
    } catch (error) {
      if (controller.signal.aborted) return;
      this.done(null, error instanceof Error ? error.message : String(error));
    }
    this.doneKey = key;
    this.running = null;
    this.next();
  }
}

export function useChartData(wanted: Wanted): Asked {
  const key = wanted.window ? JSON.stringify(wanted) : '';
  const [state, setState] = useState<{ data: ChartData | null; error: string | null }>({ data: null, error: null });
  const loader = useRef<Loader | null>(null);
  useLayoutEffect(() => {
    const made = new Loader((data, error) => setState((old) => ({ data: data ?? old.data, error })));
    loader.current = made;
    let first = true;
    const dispose = effect(() => {
      const { runs } = change.value;
      if (!first && (runs === null || made.concerns(runs))) made.touch(runs);
      first = false;
    });
    return () => {
      dispose();
      made.stop();
      loader.current = null;
    };
  }, []);
  useLayoutEffect(() => {
    loader.current?.want(wanted, key);
  }, [key]);
  return { data: state.data, ready: state.data !== null && state.data.key === key, error: state.error };
}
