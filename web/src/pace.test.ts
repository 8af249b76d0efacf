import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';

import { paced, restAfter, sparing } from './pace';

describe('writing at a pace', () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] }));
  afterEach(() => void vi.useRealTimers());
  const soon = () => Promise.resolve();

  test('what changes now and then is written at once, and once for all changes of a moment', async () => {
    const write = vi.fn();
    const address = paced(write);
    for (let i = 0; i < 50; ++i) {
      address.plan();
      address.plan();
      await soon();
      expect(write).toHaveBeenCalledTimes(i + 1);
      vi.advanceTimersByTime(1000);
    }
  });

  test('what changes all the time is written less than a hundred times in 30 s, and the last change within half a second', async () => {
    let value = 0;
    const written: number[] = [];
    const address = paced(() => written.push(value));
    for (let t = 0; t < 30_000; t += 16) {
      value = t;
      address.plan();
      await soon();
      vi.advanceTimersByTime(16);
    }
    expect(written.length).toBeGreaterThan(60);
    expect(written.length).toBeLessThan(100);
    vi.advanceTimersByTime(500);
    await soon();
    expect(written.at(-1)).toBe(value);
  });

  test('what is planned can be written before its time, and is not written again', async () => {
    const write = vi.fn();
    const address = paced(write);
    for (let i = 0; i < 20; ++i) {
      address.plan();
      await soon();
    }
    const before = write.mock.calls.length;
    expect(before).toBeLessThan(20);
    address.flush();
    expect(write).toHaveBeenCalledTimes(before + 1);
    vi.advanceTimersByTime(5000);
    address.flush();
    expect(write).toHaveBeenCalledTimes(before + 1);
  });
});

describe('work that can wait', () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] }));
  afterEach(() => void vi.useRealTimers());
  const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms);

  // Each one takes as long as the list says; then 10 ms.
  function worker(...takes: number[]) {
    const done: boolean[] = [];
    const ask = sparing(async (urgent) => {
      await new Promise((resolve) => setTimeout(resolve, takes.shift() ?? 10));
      done.push(urgent);
    });
    return { ask, done };
  }

  test('rests nine times as long as it took, but from 0.8 to 2 s', () => {
    expect([0, 50, 150, 30_000].map((spent) => restAfter(spent, false))).toEqual([800, 800, 1350, 2000]);
    expect(restAfter(30_000, true)).toBe(0);
  });

  test('is done again within 2 s of a slow answer', async () => {
    const { ask, done } = worker(20_000);
    void ask(false);
    await pass(5000);
    void ask(false);
    await pass(15_000);
    expect(done).toEqual([false]);
    await pass(2010);
    expect(done).toEqual([false, false]);
  });

  test('does not rest when it is urgent, also if that comes while it rests', async () => {
    const { ask, done } = worker(500, 500);
    void ask(false);
    void ask(true);
    await pass(1010);
    expect(done).toEqual([false, true]);
    void ask(false);
    void ask(false);
    await pass(20);
    expect(done.length).toBe(3); // it rests now
    void ask(true);
    await pass(10);
    expect(done).toEqual([false, true, false, true]);
  });

  test('is done once for all who asked meanwhile', async () => {
    const { ask, done } = worker();
    for (let i = 0; i < 20; ++i) void ask(false);
    await pass(10_000);
    expect(done.length).toBe(2);
  });
});
