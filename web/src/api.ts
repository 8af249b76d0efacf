// The client of docs/api.md. Addresses are relative, so the page works below any path prefix.
import { signal } from '@preact/signals';

import type * as T from './api_types';
import { batch } from './batch';
import { decodeBands, decodeSeries } from './decode';

export class ApiError extends Error {
  constructor(
    readonly status: number,
    message: string,
  ) {
    super(message);
  }
}

export type Query = Record<string, string | number | boolean | null | undefined>;

// The address of an answer, for <img>, <audio> and downloads.
export function url(path: string, query: Query = {}): string {
  const pairs = Object.entries(query).filter(([, value]) => value !== undefined && value !== null);
  const text = new URLSearchParams(pairs.map(([key, value]) => [key, String(value)])).toString();
  return `api/${path}${text ? `?${text}` : ''}`;
}

const kBegin = 30_000; // ms to wait for the start of an answer
const kWhole = 120_000; // ms to wait for the rest: images are large, and connections may be slow

// How often the server did not answer, or not completely. The page then asks again for what it shows: see live.ts.
export const unanswered = signal(0);

async function errorOf(answer: Response): Promise<ApiError> {
  let text = `The server answered ${answer.status}.`;
  try {
    const said = (await answer.json()) as { error?: string };
    if (said.error) text = said.error;
  } catch {
    // Not JSON: the status has to be enough.
  }
  return new ApiError(answer.status, text);
}

async function ask<Value>(
  path: string,
  init: RequestInit,
  read: (answer: Response) => Promise<Value>,
  given?: AbortSignal,
): Promise<Value> {
  const controller = new AbortController();
  const giveUp = () => controller.abort();
  let late = 0; // ms
  const limit = (ms: number) =>
    setTimeout(() => {
      late = ms;
      giveUp();
    }, ms);
  let timer = limit(kBegin);
  if (given?.aborted) giveUp();
  given?.addEventListener('abort', giveUp);
  try {
    const answer = await fetch(path, { credentials: 'same-origin', ...init, signal: controller.signal });
    clearTimeout(timer);
    timer = limit(kWhole);
    if (!answer.ok) throw await errorOf(answer);
    return await read(answer);
  } catch (error) {
    const broken = error instanceof TypeError || error instanceof DOMException;
    if (!broken || (late === 0 && given?.aborted)) throw error;
    unanswered.value = unanswered.peek() + 1;
    if (late > 0) throw new ApiError(0, `The server has not answered within ${late / 1000} s.`);
    throw new ApiError(0, 'The server does not answer: is `sonde serve` still running?');
  } finally {
    clearTimeout(timer);
    given?.removeEventListener('abort', giveUp);
  }
}

const asJson = <Value>(answer: Response): Promise<Value> => answer.json() as Promise<Value>;
const asBytes = (answer: Response): Promise<ArrayBuffer> => answer.arrayBuffer();

export const get = <Value>(path: string, query: Query = {}, signal?: AbortSignal): Promise<Value> =>
  ask(url(path, query), {}, asJson<Value>, signal);

// The bytes at an address of url().
export const bytes = (address: string): Promise<ArrayBuffer> => ask(address, {}, asBytes);

function post<Value>(
  path: string,
  body: unknown,
  read: (answer: Response) => Promise<Value>,
  signal?: AbortSignal,
): Promise<Value> {
  const headers = { 'Content-Type': 'application/json' };
  return ask(url(path), { method: 'POST', headers, body: JSON.stringify(body) }, read, signal);
}

// For the binary answers of one view.
export const postForBytes = (path: string, body: unknown, signal?: AbortSignal): Promise<ArrayBuffer> =>
  post(path, body, asBytes, signal);

export interface Start {
  status: T.Status;
  runs: T.Run[];
  tags: T.Tag[];
  layouts: T.Layout[];
}

// All that is needed before the first chart. index.html has the browser ask for it before this code is there.
export async function start(): Promise<Start> {
  const { status, runs, tags, layouts } = await get<T.StartAnswer>('start');
  // A hyper-parameter may have the name of a property of every object, such as "constructor".
  for (const run of runs.runs) Object.setPrototypeOf(run.hparams, null);
  return {
    status,
    runs: runs.runs,
    tags: tags.tags.map((tag) => ({ ...tag, runs: tag.runs.map((at) => tags.runs[at] ?? '') })),
    layouts: layouts.layouts,
  };
}

export const alerts = (signal?: AbortSignal) => get<{ alerts: T.Alert[] }>('alerts', {}, signal).then((a) => a.alerts);
export const capture = (run: string, name: string, signal?: AbortSignal) =>
  get<T.Capture>('capture', { run, name }, signal);
export const captures = (signal?: AbortSignal) =>
  get<{ captures: T.CaptureEntry[]; older: number }>('captures', {}, signal);
export const growth = (run: string, name: string, key: string, signal?: AbortSignal) =>
  get<{ key: string; steps: T.GrowthStep[] }>('capture/growth', { run, name, key }, signal);
export const triggers = (run: string, signal?: AbortSignal) => get<T.Triggers>('triggers', { run }, signal);

const kSeriesAtOnce = 200; // of the 1,000 that the server accepts: the first charts are drawn while the others load

const seriesBatch = batch<T.SeriesKey, T.Series>(async (group, series, signal) => {
  const question = { series, ...(JSON.parse(group) as T.Window) };
  return decodeSeries(await post('series', question, asBytes, signal));
}, kSeriesAtOnce);

const bandBatch = batch<{ tag: string; runs: string[] }, T.Band>(async (group, groups, signal) => {
  const { axis, range, width } = JSON.parse(group) as T.Window;
  return decodeBands(await post('bands', { groups, axis, range, width }, asBytes, signal));
}, 50);

// The data of one line of a chart. Requests of the same moment and window are sent together.
export const series = (key: T.SeriesKey, window: T.Window, signal?: AbortSignal) =>
  seriesBatch.ask(JSON.stringify(window), key, signal);

export const band = (tag: string, runs: string[], window: T.Window, signal?: AbortSignal) =>
  bandBatch.ask(JSON.stringify(window), { tag, runs }, signal);

export interface TableQuestion {
  series: T.SeriesKey[];
  step?: number;
  range?: T.Range;
  smooth?: number;
}

export async function table(question: TableQuestion, signal?: AbortSignal): Promise<T.TableRow[]> {
  return (await post('table', question, asJson<{ rows: T.TableRow[] }>, signal)).rows;
}

type OfTag = { run: string; tag: string; kind?: string };
type Spread = { first?: number; last?: number; most?: number };

export const steps = (of: OfTag, signal?: AbortSignal) => get<T.Steps>('steps', { ...of }, signal);
export const histograms = (of: OfTag & Spread & { step?: number }, signal?: AbortSignal) =>
  get<T.Histograms>('histograms', { ...of }, signal);
export const statistics = (of: OfTag & Spread, signal?: AbortSignal) =>
  get<T.Statistics>('statistics', { ...of }, signal);
export const media = (of: OfTag & { step: number }, signal?: AbortSignal) => get<T.Media>('media', { ...of }, signal);
export const prCurve = (of: { run: string; tag: string; step: number }, signal?: AbortSignal) =>
  get<T.PrCurve>('pr_curve', { ...of }, signal);

export const imageUrl = (of: OfTag & { step: number; index?: number }) => url('image', { ...of });
export const audioUrl = (of: OfTag & { step: number; index?: number }) => url('audio', { ...of });
export const scalarsUrl = (of: OfTag, format: 'csv' | 'json') => url('scalars', { ...of, format });

export const note = (run: string, text: string) => post('note', { run, note: text }, asBytes);
export const remove = (run: string) => post('delete', { run }, asBytes);
export const arm = (run: string, when: string, before: number, after: number) =>
  post('arm', { run, when, before, after }, asBytes);
export const disarm = (run: string, number: number, when: string) => post('disarm', { run, number, when }, asBytes);

// A number of an answer: NaN and infinities are sent as strings.
export const num = (value: T.Num | null | undefined): number => (value == null ? NaN : Number(value));
