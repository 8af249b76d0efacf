// Keeps state.ts up to date: the event stream says that something is new, and what is shown is asked for again.
import { batch, computed, effect, signal } from '@preact/signals';

import * as api from './api';
import { sparing } from './pace';
import { alerts, alertsLoaded, layouts, loadError, loaded, runs, status, tags } from './state';

export type Connection = 'connecting' | 'live' | 'paused' | 'lost';

export const connection = signal<Connection>('connecting');
export const retryAt = signal<number | null>(null); // ms since 1970; null: none is planned

// What has changed last. Charts compare with their runs and ask again.
export interface Change {
  serial: number;
  runs: ReadonlySet<string> | null; // null: any may have
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

// --- What all views need is asked for at most as often as the answers are cheap ---

async function load(structure: boolean): Promise<void> {
  const planLayouts = structure || !loaded.peek();
  const [state, newRuns, newTags, newLayouts] = await Promise.all([
    api.status(),
    api.runs(),
    api.tags(),
    // With the tags, whose cards they place: a card that was drawn already would jump.
    planLayouts ? api.layouts().catch(() => layouts.peek()) : layouts.peek(),
  ]);
  batch(() => {
    status.value = state;
    runs.value = newRuns.runs;
    tags.value = newTags.tags;
    if (JSON.stringify(newLayouts) !== JSON.stringify(layouts.peek())) layouts.value = newLayouts;
    loaded.value = true;
    loadError.value = null;
  });
}

// Nothing in charts waits for this, and the next refresh does not either.
const refreshAlerts = sparing(async () => {
  const newAlerts = await api.alerts().catch(() => alerts.peek());
  batch(() => {
    alerts.value = newAlerts;
    alertsLoaded.value = true;
  });
});

const refreshSparingly = sparing(async (structure) => {
  try {
    await load(structure);
    void refreshAlerts(false);
  } catch (error) {
    loadError.value = error instanceof Error ? error.message : String(error);
  }
});

// `structure`: there may be other runs, tags or layouts than before, which does not wait.
export const refresh = (structure = true): Promise<void> => refreshSparingly(structure);

// --- What was not answered is asked for again ---

const kAgain = 5000; // ms
export const again = signal(0); // how often everything was; for what does not follow `change`
let againTimer: ReturnType<typeof setTimeout> | undefined;

function askAgain(): void {
  againTimer ??= setTimeout(() => {
    againTimer = undefined;
    // Without a stream there is no server: when it is back, everything is asked for anyway.
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
  void refresh(data.all);
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
  const opened = new EventSource('api/events', { withCredentials: true });
  source = opened;
  opened.addEventListener('open', () => {
    const back = connection.peek() === 'lost' || connection.peek() === 'paused';
    retries = 0;
    connection.value = 'live';
    // Whatever happened meanwhile: ask for everything that is shown. The server may be another one by now.
    if (back) {
      revision = -1;
      change.value = { serial: change.peek().serial + 1, runs: null };
      void refresh();
    }
  });
  opened.addEventListener('change', onChange as (event: Event) => void);
  // The browser's own retry gives up on some errors: one rule for all of them.
  opened.addEventListener('error', lose);
}

const kPauseAfter = 60_000; // ms in the background

let pauseTimer: ReturnType<typeof setTimeout> | undefined;

export function start(): void {
  void refresh();
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
