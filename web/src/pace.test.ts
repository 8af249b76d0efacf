import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';

import { paced } from './pace';

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
