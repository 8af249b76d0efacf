import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';

import * as api from './api';
import type { Window } from './api_types';

// A server that takes every question and answers those whose body `answers` accepts; the others never.
function serve(answers: (body: string) => Response | null): string[] {
  const asked: string[] = [];
  vi.stubGlobal('fetch', (path: string, { body, signal }: { body?: string; signal: AbortSignal }) => {
    asked.push(path);
    const answer = answers(body ?? '');
    if (answer) return Promise.resolve(answer);
    return new Promise((_, reject) => {
      signal.addEventListener('abort', () => reject(new DOMException('aborted', 'AbortError')));
    });
  });
  return asked;
}

const windowOf = (width: number) => ({ axis: 'step', range: null, width }) as unknown as Window;

describe('a question that is never answered', () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }));
  afterEach(() => {
    vi.useRealTimers();
    vi.unstubAllGlobals();
  });

  test('fails after 30 s, says so, and is counted', async () => {
    serve(() => null);
    const before = api.unanswered.value;
    const failed = expect(api.start()).rejects.toThrow('The server has not answered within 30 s.');
    await vi.advanceTimersByTimeAsync(29_999);
    expect(api.unanswered.value).toBe(before);
    await vi.advanceTimersByTimeAsync(1);
    await failed;
    expect(api.unanswered.value).toBe(before + 1);
  });

  test('fails also if the answer begins and does not end', async () => {
    vi.stubGlobal('fetch', (_: string, { signal }: { signal: AbortSignal }) => {
      const body = new ReadableStream({
        start: (stream) => signal.addEventListener('abort', () => stream.error(new DOMException('aborted', 'AbortError'))),
      });
      return Promise.resolve(new Response(body));
    });
    const failed = expect(api.bytes('api/image')).rejects.toThrow('The server has not answered within 120 s.');
    await vi.advanceTimersByTimeAsync(120_000);
    await failed;
  });

  test('does not keep other series from travelling for longer than that', async () => {
    const asked = serve((body) => (body.includes('"width":4') ? new Response('', { status: 404 }) : null));
    const series = [1, 2, 3, 4].map((width) =>
      api.series({ run: 'a', tag: 'loss' }, windowOf(width)).catch((error: api.ApiError) => error.status),
    );
    await vi.advanceTimersByTimeAsync(29_000);
    expect(asked.length).toBe(3);
    await vi.advanceTimersByTimeAsync(1000);
    expect(await Promise.all(series)).toEqual([0, 0, 0, 404]);
  });

  test('is not a failure if the caller has aborted', async () => {
    serve(() => null);
    const before = api.unanswered.value;
    const controller = new AbortController();
    const given = expect(api.alerts(controller.signal)).rejects.toThrow(DOMException);
    controller.abort();
    await given;
    await vi.advanceTimersByTimeAsync(60_000);
    expect(api.unanswered.value).toBe(before);
  });
});
