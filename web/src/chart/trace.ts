// Draws lines with very many points. The cost of a jagged path grows faster than its length: filled as a whole, a few
// thousand points took 200 ms. So paths are cut into pieces, and what goes up and down within a pixel is drawn as pixel
// columns.
import type { Painter } from './painter';
import { type Frame, toPixel } from './scale';

const kChunk = 100; // points in one path
const kDense = 1.5; // points per pixel above which corners are invisible
const kJagged = 8; // vertical pixels per horizontal pixel

// Pixel positions of the points; NaN if the line is interrupted. Values far outside are clamped, since canvases lose
// precision on very large numbers.
function pixels(
  frame: Frame,
  xs: Float64Array,
  ys: Float64Array,
): { px: Float64Array; py: Float64Array; travel: number } {
  const px = new Float64Array(xs.length);
  const py = new Float64Array(xs.length);
  const bounded = (pixel: number) => Math.max(-1e5, Math.min(1e5, pixel));
  let travel = 0;
  for (let i = 0; i < xs.length; ++i) {
    const x = xs[i] as number;
    const y = ys[i] as number;
    const drawn = Number.isFinite(y) && !(frame.y.log && y <= 0) && !(frame.x.log && x <= 0);
    px[i] = bounded(toPixel(frame.x, x));
    py[i] = drawn ? bounded(toPixel(frame.y, y)) : NaN;
    const step = i > 0 ? Math.abs((py[i] as number) - (py[i - 1] as number)) : NaN;
    if (step > 0) travel += Math.min(step, frame.bottom - frame.top);
  }
  return { px, py, travel };
}

function path(p: Painter, px: Float64Array, py: Float64Array): void {
  p.beginPath();
  let pen = 0; // points in the path so far
  for (let i = 0; i < px.length; ++i) {
    const [x, y] = [px[i] as number, py[i] as number];
    if (Number.isNaN(y)) {
      pen = 0;
      continue;
    }
    if (pen > 0) p.lineTo(x, y);
    else p.moveTo(x, y);
    if (++pen > kChunk) {
      p.stroke();
      p.beginPath();
      p.moveTo(x, y);
      pen = 1;
    }
  }
  p.stroke();
}

// Draws every pixel column from its lowest to its highest point, and connects it to the previous column.
function columns(p: Painter, px: Float64Array, py: Float64Array, width: number): void {
  let column = NaN;
  let last = NaN; // current position of the line
  let lo = NaN;
  let hi = NaN;
  const flush = () => {
    if (!Number.isNaN(lo)) p.fillRect(column, lo - width / 2, 1, hi - lo + width);
  };
  p.beginPath();
  for (let i = 0; i < px.length; ++i) {
    const y = py[i] as number;
    const at = Math.floor(px[i] as number);
    if (at !== column || Number.isNaN(y)) {
      flush();
      // Where points are sparse, the line continues normally.
      if (!Number.isNaN(last) && !Number.isNaN(y) && at - column > 1) {
        p.moveTo(px[i - 1] as number, last);
        p.lineTo(px[i] as number, y);
        last = NaN;
      }
      lo = hi = Number.isNaN(last) ? y : last;
      column = at;
    }
    if (y < lo) lo = y;
    if (y > hi) hi = y;
    last = y;
  }
  flush();
  p.stroke();
}

export function trace(p: Painter, frame: Frame, xs: Float64Array, ys: Float64Array, width: number): void {
  const room = frame.right - frame.left;
  const { px, py, travel } = pixels(frame, xs, ys);
  const dense = xs.length > kDense * room;
  p.lineWidth = width;
  p.lineJoin = dense ? 'bevel' : 'round';
  if (dense && travel > kJagged * room) columns(p, px, py, width);
  else path(p, px, py);
}
