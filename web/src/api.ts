// The client of docs/api.md. Addresses are relative, so the page works below any path prefix.
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

async function ask(path: string, init: RequestInit): Promise<Response> {
  let answer: Response;
  try {
    answer = await fetch(path, { credentials: 'same-origin', ...init });
  } catch (error) {
    if (error instanceof DOMException && error.name === 'AbortError') throw error;
    throw new ApiError(0, 'The server does not answer: is `sonde serve` still running?');
  }
  if (answer.ok) return answer;
  let text = `The server answered ${answer.status}.`;
  try {
    const said = (await answer.json()) as { error?: string };
    if (said.error) text = said.error;
  } catch {
    // Not JSON: the status has to do.
  }
  throw new ApiError(answer.status, text);
}

export async function get<Value>(path: string, query: Query = {}, signal?: AbortSignal): Promise<Value> {
  return (await (await ask(url(path, query), signal ? { signal } : {})).json()) as Value;
}

function post(path: string, body: unknown, signal?: AbortSignal): Promise<Response> {
  const init: RequestInit = {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
  };
  if (signal) init.signal = signal;
  return ask(url(path), init);
}

export const status = (signal?: AbortSignal) => get<T.Status>('status', {}, signal);
export const runs = (signal?: AbortSignal) => get<{ revision: number; runs: T.Run[] }>('runs', {}, signal);
export const alerts = (signal?: AbortSignal) => get<{ alerts: T.Alert[] }>('alerts', {}, signal).then((a) => a.alerts);
export const layouts = (signal?: AbortSignal) =>
  get<{ layouts: T.Layout[] }>('layouts', {}, signal).then((a) => a.layouts);

export async function tags(signal?: AbortSignal): Promise<{ revision: number; tags: T.Tag[] }> {
  const answer = await get<T.TagsAnswer>('tags', {}, signal);
  const named = answer.tags.map((tag) => ({ ...tag, runs: tag.runs.map((at) => answer.runs[at] ?? '') }));
  return { revision: answer.revision, tags: named };
}

const kSeriesAtOnce = 200; // of 1,000 that the server takes: the first charts are drawn while the others travel

const seriesBatch = batch<T.SeriesKey, T.Series>(async (group, series, signal) => {
  const answer = await post('series', { series, ...(JSON.parse(group) as T.Window) }, signal);
  return decodeSeries(await answer.arrayBuffer());
}, kSeriesAtOnce);

const bandBatch = batch<{ tag: string; runs: string[] }, T.Band>(async (group, groups, signal) => {
  const { axis, range, width } = JSON.parse(group) as T.Window;
  const answer = await post('bands', { groups, axis, range, width }, signal);
  return decodeBands(await answer.arrayBuffer());
}, 50);

// What one line of a chart is drawn from. Requests of the same moment and window travel together.
export const series = (key: T.SeriesKey, window: T.Window, signal?: AbortSignal) =>
  seriesBatch.ask(JSON.stringify(window), { run: key.run, tag: key.tag }, signal);

export const band = (tag: string, runs: string[], window: T.Window, signal?: AbortSignal) =>
  bandBatch.ask(JSON.stringify(window), { tag, runs }, signal);

export interface TableQuestion {
  series: T.SeriesKey[];
  step?: number;
  range?: T.Range;
  smooth?: number;
}

export async function table(question: TableQuestion, signal?: AbortSignal): Promise<T.TableRow[]> {
  return ((await (await post('table', question, signal)).json()) as { rows: T.TableRow[] }).rows;
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

export const note = (run: string, text: string) => post('note', { run, note: text });
export const remove = (run: string) => post('delete', { run });
export const arm = (run: string, when: string, before: number, after: number) =>
  post('arm', { run, when, before, after });

// A number of an answer: NaN and infinities travel as strings.
export const num = (value: T.Num | null | undefined): number => (value == null ? NaN : Number(value));
