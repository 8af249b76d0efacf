import { cleared } from '../../ui/canvas';

// Drawing thousands of lines at a higher resolution would take longer and look the same.
export const coarse = (element: HTMLCanvasElement | null, width: number, height: number): CanvasRenderingContext2D | null =>
  cleared(element, width, height, 2);

const kBudget = 10; // ms of a frame

// Calls `one` for all of `items`, a part of them in each frame, the first part at once, so that ten thousand lines do
// not block the page. Returns a function that stops it.
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
