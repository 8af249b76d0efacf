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

// At most one request of a chart is in flight; the newest window is requested next. So the chart follows a long wheel
// gesture as fast as the server answers, and nothing is requested twice.
class Loader {
  private running: AbortController | null = null;
  private wanted: Wanted | null = null;
  private key = '';
  private doneKey = '';
  private dirty = false;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private began = 0;

  constructor(private readonly done: (data: ChartData | null, error: string | null) => void) {}

  want(wanted: Wanted, key: string): void {
    this.wanted = wanted;
    this.key = key;
    this.next();
  }
  touch(): void {
    this.dirty = true;
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
    this.dirty = false;
    this.began = performance.now();
    try {
      const [series, bands] = await Promise.all([
        Promise.all(wanted.series.map((one) => api.series(one, window, controller.signal))),
        Promise.all(wanted.groups.map((group) => api.band(group.tag, group.runs, window, controller.signal))),
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
      if (!first && (runs === null || made.concerns(runs))) made.touch();
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
