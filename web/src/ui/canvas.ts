// Clears a canvas and sets its size in CSS pixels, sharp on the current screen. `most` limits the device pixels per CSS
// pixel.
export function cleared(element: HTMLCanvasElement | null, width: number, height: number, most = 3): CanvasRenderingContext2D | null {
  const context = element?.getContext('2d');
  if (!element || !context || width <= 0 || height <= 0) return null;
  const density = Math.min(most, window.devicePixelRatio || 1);
  const [across, down] = [Math.round(width * density), Math.round(height * density)];
  if (element.width !== across || element.height !== down) Object.assign(element, { width: across, height: down });
  context.reset();
  context.setTransform(density, 0, 0, density, 0, 0);
  return context;
}
