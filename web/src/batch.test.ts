import { describe, expect, test } from 'vitest';

import { batch } from './batch';

const later = () => new Promise((resolve) => setTimeout(resolve, 5));

describe('requests of one moment', () => {
  test('travel as one for each window', async () => {
    const sent: string[] = [];
    const { ask } = batch<number, number>(async (group, keys) => {
      sent.push(`${group}:${keys.join()}`);
      return keys.map((key) => key * 10);
    }, 100);
    expect(await Promise.all([ask('a', 1), ask('b', 2), ask('a', 3)])).toEqual([10, 20, 30]);
    expect(sent).toEqual(['a:1,3', 'b:2']);
  });

  test('are split if there are too many, and only a few are under way at once', async () => {
    let running = 0;
    let most = 0;
    const { ask } = batch<number, number>(
      async (_, keys) => {
        most = Math.max(most, ++running);
        expect(keys.length).toBeLessThanOrEqual(10);
        await later();
        --running;
        return keys;
      },
      10,
      2,
    );
    const wanted = Array.from({ length: 95 }, (_, i) => i);
    expect(await Promise.all(wanted.map((key) => ask('a', key)))).toEqual(wanted);
    expect(most).toBe(2);
  });

  test('that were aborted are never sent', async () => {
    const sent: number[] = [];
    const { ask } = batch<number, number>(async (_, keys) => (sent.push(...keys), keys), 100);
    const controller = new AbortController();
    const given = ask('a', 1, controller.signal);
    const kept = ask('a', 2);
    controller.abort();
    await expect(given).rejects.toThrow(/Aborted/);
    expect(await kept).toBe(2);
    expect(sent).toEqual([2]);
  });

  test('are aborted only when none waits any more', async () => {
    let signal: AbortSignal | undefined;
    const { ask } = batch<number, number>(async (_, keys, given) => {
      signal = given;
      await later();
      return keys;
    }, 100);
    const [one, two] = [new AbortController(), new AbortController()];
    const asked = [ask('a', 1, one.signal), ask('a', 2, two.signal)].map((promise) => promise.catch(() => 'given up'));
    await new Promise((resolve) => setTimeout(resolve, 1));
    one.abort();
    expect(signal?.aborted).toBe(false);
    two.abort();
    expect(signal?.aborted).toBe(true);
    expect(await Promise.all(asked)).toEqual(['given up', 'given up']);
  });

  test('fail together', async () => {
    const { ask } = batch<number, number>(async () => Promise.reject(new Error('no server')), 100);
    await expect(ask('a', 1)).rejects.toThrow('no server');
    await expect(ask('a', 2)).rejects.toThrow('no server');
  });
});
