// Keeps state.ts up to date: the event stream reports changes, and the page asks again for what it shows.
import { batch, computed, effect, signal } from '@preact/signals';

import * as api from './api';
import { sparing } from './pace';
import { alerts, alertsLoaded, layouts, loadError, loaded, runs, status, tags } from './state';

export type Connection = 'connecting' | 'live' | 'paused' | 'lost';

export const connection = signal<Connection>('connecting');
export const retryAt = signal<number | null>(null); // ms since 1970; null: none is planned

// The last change. Charts compare it with their runs and ask again.
export interface Change {
  serial: number;
  runs: ReadonlySet<string> | null; // null: any run may have changed
}
export const change = signal<Change>({ serial: 0, runs: null });

export const lastEvent = signal(0); // ms since 1970
export const growing = computed(() => runs.value.some((run) => run.state === 'live'));
export const connectionText = computed(() => {
  switch (connection.value) {
    case 'live':
      if (loadError.value !== null && loaded.value) return 'no answer';
      return growing.value ? 'live' : 'connected';
    case 'paused':
      return 'paused';
    case 'connecting':
      return 'connecting';
    case 'lost':
      return 'no connection';
  }
});

let source: EventSource | null = null;
let retries = 0;
let retryTimer: ReturnType<typeof setTimeout> | undefined;
let revision = -1;

// --- Data that all views need, requested no more often than its cost allows ---

async function load(): Promise<void> {
  const now = await api.start();
  batch(() => {
    status.value = now.status;
    runs.value = now.runs;
    tags.value = now.tags;
    if (JSON.stringify(now.layouts) !== JSON.stringify(layouts.peek())) layouts.value = now.layouts;
    loaded.value = true;
    loadError.value = null;
  });
}

// Neither charts nor the next refresh wait for this.
const refreshAlerts = sparing(async () => {
  const newAlerts = await api.alerts().catch(() => alerts.peek());
  batch(() => {
    alerts.value = newAlerts;
    alertsLoaded.value = true;
  });
});

const refreshSparingly = sparing(async () => {
  try {
    await load();
    void refreshAlerts(false);
  } catch (error) {
    loadError.value = error instanceof Error ? error.message : String(error);
  }
});

// `structure`: there may be new runs, tags or layouts, which is urgent.
export const refresh = (structure = true): Promise<void> => refreshSparingly(structure);

// --- Unanswered requests are repeated ---

const kAgain = 5000; // ms
export const again = signal(0); // counts full repeats; for code that does not follow `change`
let againTimer: ReturnType<typeof setTimeout> | undefined;

function askAgain(): void {
  againTimer ??= setTimeout(() => {
    againTimer = undefined;
    // Without a stream there is no server: when it is back, everything is requested anyway.
    if (connection.peek() === 'lost' || connection.peek() === 'paused') return;
    change.value = { serial: change.peek().serial + 1, runs: null };
    again.value = again.peek() + 1;
    void refresh();
  }, kAgain);
}

function onChange(event: MessageEvent<string>): void {
  let data: { revision: number; runs: string[]; all: boolean };
  try {
    data = JSON.parse(event.data) as typeof data;
  } catch {
    return; // not for us
  }
  lastEvent.value = Date.now();
  if (data.revision === revision) return;
  const first = revision < 0;
  revision = data.revision;
  if (first && loaded.peek() && status.peek()?.revision === revision) return;
  change.value = { serial: change.peek().serial + 1, runs: data.all ? null : new Set(data.runs) };
  // As long as nothing has been read, there is nothing to see.
  void refresh(data.all || tags.peek().length === 0);
}

function close(): void {
  clearTimeout(retryTimer);
  retryAt.value = null;
  source?.close();
  source = null;
}

function lose(): void {
  close();
  connection.value = 'lost';
  // 0.5, 1, 2, 4, 8 and then every 10 s.
  const wait = Math.min(10_000, 500 * 2 ** retries++);
  retryAt.value = Date.now() + wait;
  retryTimer = setTimeout(connect, wait);
}

export function connect(): void {
  close();
  if (connection.peek() !== 'lost') connection.value = 'connecting';
  // What has changed since the first answers; later the browser itself names the last event.
  const known = revision < 0 ? status.peek()?.revision : revision;
  const opened = new EventSource(api.url('events', { seen: known }), { withCredentials: true });
  source = opened;
  opened.addEventListener('open', () => {
    const back = connection.peek() === 'lost' || connection.peek() === 'paused';
    retries = 0;
    connection.value = 'live';
    // Requests everything that is shown: anything may have changed, and the server may be another one.
    if (back) {
      revision = -1;
      change.value = { serial: change.peek().serial + 1, runs: null };
      void refresh();
    }
  });
  opened.addEventListener('change', onChange as (event: Event) => void);
  // The browser's own retry gives up on some errors: use one rule for all of them.
  opened.addEventListener('error', lose);
}

const kPauseAfter = 60_000; // ms in the background

let pauseTimer: ReturnType<typeof setTimeout> | undefined;

// Returns when the first answer is there, or the failure to get one. The event stream comes after it: it costs a connection
// and tells at once what is new since then.
export async function start(): Promise<void> {
  await refresh();
  connect();
  effect(() => {
    if (api.unanswered.value > 0) askAgain();
  });
  document.addEventListener('visibilitychange', () => {
    clearTimeout(pauseTimer);
    if (document.hidden) {
      // A tab in the background stops asking the server after a while.
      pauseTimer = setTimeout(() => {
        close();
        connection.value = 'paused';
      }, kPauseAfter);
    } else if (source === null) {
      const state = connection.peek();
      connect();
      if (state === 'paused') connection.value = 'paused'; // until the stream is open: it catches up then
    }
  });
  window.addEventListener('online', connect);
}
