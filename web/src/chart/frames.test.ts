import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';

import { drawSoon, forget } from './frames';

describe('drawing in turns', () => {
  const page = { hidden: false };
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
    vi.stubGlobal('document', page);
    // As in a browser: a tab in the background has no frames.
    vi.stubGlobal('requestAnimationFrame', (run: () => void) => !page.hidden && setTimeout(run, 16));
  });
  afterEach(() => {
    vi.advanceTimersByTime(1000);
    vi.useRealTimers();
    vi.unstubAllGlobals();
  });

  test('goes on in a tab in the background', () => {
    page.hidden = true;
    const draw = vi.fn();
    drawSoon({}, draw);
    vi.advanceTimersByTime(1000);
    expect(draw).toHaveBeenCalledTimes(1);
    page.hidden = false;
  });

  // Takes all of this frame.
  const busy = () => drawSoon({}, () => vi.advanceTimersByTime(12));

  test('happens at once if there is time in this frame', () => {
    const [now, later] = [vi.fn(), vi.fn()];
    drawSoon({}, now);
    expect(now).toHaveBeenCalledTimes(1);
    busy();
    drawSoon({}, later);
    expect(later).not.toHaveBeenCalled();
    vi.advanceTimersByTime(50);
    expect(later).toHaveBeenCalledTimes(1);
  });

  test('draws the newest of what one owner wants, and nothing of one that is gone', () => {
    busy();
    const [old, newer, gone] = [vi.fn(), vi.fn(), vi.fn()];
    const [owner, left] = [{}, {}];
    drawSoon(owner, old);
    drawSoon(owner, newer);
    drawSoon(left, gone);
    forget(left);
    vi.advanceTimersByTime(1000);
    expect([old, newer, gone].map((draw) => draw.mock.calls.length)).toEqual([0, 1, 0]);
  });

  test('leaves the rest for the next frame when one has taken long', () => {
    busy();
    const slow = vi.fn(() => vi.advanceTimersByTime(12));
    drawSoon({}, slow);
    drawSoon({}, slow);
    vi.advanceTimersByTime(17);
    expect(slow).toHaveBeenCalledTimes(1);
    vi.advanceTimersByTime(50);
    expect(slow).toHaveBeenCalledTimes(2);
  });
});
