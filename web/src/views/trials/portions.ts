import { cleared } from '../../ui/canvas';

// Thousands of lines on more pixels would take longer, and look the same.
export const coarse = (element: HTMLCanvasElement | null, width: number, height: number): CanvasRenderingContext2D | null =>
  cleared(element, width, height, 2);

const kBudget = 10; // ms of a frame

// Calls `one` for all of `items`, a part of them in each frame, the first part at once: ten thousand lines keep nobody
// waiting. Returns what stops it.
export function inPortions(items: ArrayLike<number>, one: (item: number) => void, done: () => void): () => void {
  let at = 0;
  let frame = 0;
  const go = (): void => {
    const until = performance.now() + kBudget;
    while (at < items.length) {
      for (let i = 0; i < 32 && at < items.length; ++i) one(items[at++]!);
      if (performance.now() > until) break;
    }
    if (at < items.length) frame = requestAnimationFrame(go);
    else done();
  };
  go();
  return () => cancelAnimationFrame(frame);
}
