// Draws an image in its frame, and the values of its pixels once they are large enough to read.
import { type Pixels, pixelAt } from './png';
import { type Placement, placement, type Size, type Zoom } from './zoom';

export function drawImage(context: CanvasRenderingContext2D, bitmap: ImageBitmap, zoom: Zoom, frame: Size): void {
  const at = placement(zoom, bitmap, frame);
  context.clearRect(0, 0, frame.width, frame.height);
  context.imageSmoothingEnabled = at.perPixel < 1; // enlarged pixels stay sharp
  context.imageSmoothingQuality = 'high';
  context.drawImage(bitmap, at.left, at.top, bitmap.width * at.perPixel, bitmap.height * at.perPixel);
}

const kGridFrom = 12; // CSS pixels of one pixel

export interface Marked {
  x: number;
  y: number;
}

export interface Style {
  grid: string;
  mark: string;
}

export function drawDetails(
  context: CanvasRenderingContext2D, pixels: Pixels | null, size: Size, zoom: Zoom, frame: Size, marked: Marked | null, style: Style,
): void {
  context.clearRect(0, 0, frame.width, frame.height);
  const at = placement(zoom, size, frame);
  const seen = visible(at, size, frame);
  const close = zoom.scale > 1; // no text over an image that is fully visible
  if (close && at.perPixel >= kGridFrom) drawGrid(context, at, seen, style);
  if (close && pixels && at.perPixel >= neededFor(pixels)) drawNumbers(context, pixels, at, seen);
  if (marked && at.perPixel >= 3) {
    context.strokeStyle = style.mark;
    context.lineWidth = 1.5;
    context.strokeRect(at.left + marked.x * at.perPixel, at.top + marked.y * at.perPixel, at.perPixel, at.perPixel);
  }
}

interface Seen {
  left: number;
  top: number;
  right: number; // one beyond the last
  bottom: number;
}

export function visible(at: Placement, size: Size, frame: Size): Seen {
  return {
    left: Math.max(0, Math.floor(-at.left / at.perPixel)),
    top: Math.max(0, Math.floor(-at.top / at.perPixel)),
    right: Math.min(size.width, Math.ceil((frame.width - at.left) / at.perPixel)),
    bottom: Math.min(size.height, Math.ceil((frame.height - at.top) / at.perPixel)),
  };
}

function drawGrid(context: CanvasRenderingContext2D, at: Placement, seen: Seen, style: Style): void {
  context.strokeStyle = style.grid;
  context.lineWidth = 0.5;
  context.beginPath();
  for (let x = seen.left; x <= seen.right; ++x) {
    context.moveTo(at.left + x * at.perPixel, at.top + seen.top * at.perPixel);
    context.lineTo(at.left + x * at.perPixel, at.top + seen.bottom * at.perPixel);
  }
  for (let y = seen.top; y <= seen.bottom; ++y) {
    context.moveTo(at.left + seen.left * at.perPixel, at.top + y * at.perPixel);
    context.lineTo(at.left + seen.right * at.perPixel, at.top + y * at.perPixel);
  }
  context.stroke();
}

const neededFor = (pixels: Pixels): number => (pixels.bits > 8 ? 38 : pixels.channels > 2 ? 34 : 26);

function drawNumbers(context: CanvasRenderingContext2D, pixels: Pixels, at: Placement, seen: Seen): void {
  context.font = '10px ui-monospace, monospace';
  context.textAlign = 'center';
  context.textBaseline = 'middle';
  const most = 2 ** pixels.bits - 1;
  for (let y = seen.top; y < seen.bottom; ++y) {
    for (let x = seen.left; x < seen.right; ++x) {
      const values = pixelAt(pixels, x, y);
      context.fillStyle = brightness(values) / most > 0.55 ? '#000' : '#fff';
      const middle = at.top + (y + 0.5) * at.perPixel - ((values.length - 1) * 10) / 2;
      values.forEach((value, i) => context.fillText(String(value), at.left + (x + 0.5) * at.perPixel, middle + i * 10));
    }
  }
}

// Of grey, or of red, green and blue with the weights of the eye.
export function brightness(values: readonly number[]): number {
  const [r = 0, g = 0, b = 0] = values;
  return values.length < 3 ? r : 0.299 * r + 0.587 * g + 0.114 * b;
}

const kNames: Record<number, string[]> = { 1: [''], 2: ['', 'alpha '], 3: ['R ', 'G ', 'B '], 4: ['R ', 'G ', 'B ', 'A '] };

// "R 12 G 255 B 0"
export function pixelText(values: readonly number[]): string {
  return values.map((value, i) => `${kNames[values.length]?.[i] ?? ''}${value}`).join(' ');
}
