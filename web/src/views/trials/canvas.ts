// A canvas of so many CSS pixels, sharp on the screen that it is on, and empty.
export function cleared(element: HTMLCanvasElement | null, width: number, height: number): CanvasRenderingContext2D | null {
  const context = element?.getContext('2d');
  if (!element || !context || width <= 0 || height <= 0) return null;
  const density = Math.min(2, window.devicePixelRatio || 1);
  const [across, down] = [Math.round(width * density), Math.round(height * density)];
  if (element.width !== across || element.height !== down) Object.assign(element, { width: across, height: down });
  context.reset();
  context.setTransform(density, 0, 0, density, 0, 0);
  return context;
}

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
