// Where cells are on the screen: steps to pixels, and the level of the cells.
import { kTileCells } from './api';

export interface Frame {
  lo: number; // the visible steps, with fractions
  hi: number;
  width: number; // CSS pixels
  level: number; // a cell has 2^level steps
}

// The smallest cells that are at least a pixel wide, but not much smaller than the steps between two records.
export function levelOf(steps: number, width: number, interval: number): number {
  const perPixel = Math.max(steps, 1e-9) / Math.max(1, width);
  const seen = Math.ceil(Math.log2(perPixel));
  const recorded = Math.floor(Math.log2(Math.max(1, interval)));
  return Math.min(48, Math.max(0, seen, recorded));
}

export const cellSize = (level: number): number => 2 ** level;
export const cellAt = (step: number, level: number): number => Math.floor(step / 2 ** level);
export const xOf = (frame: Frame, step: number): number => ((step - frame.lo) / (frame.hi - frame.lo)) * frame.width;
export const stepAt = (frame: Frame, x: number): number => frame.lo + (x / frame.width) * (frame.hi - frame.lo);

// The tiles with visible cells.
export function tilesOf(frame: Frame): number[] {
  const size = cellSize(frame.level) * kTileCells;
  const first = Math.floor(frame.lo / size);
  const last = Math.floor((frame.hi - 1e-9) / size);
  return Array.from({ length: Math.max(0, Math.min(64, last - first + 1)) }, (_, i) => first + i);
}

// Never beyond the run, and never less than a few steps.
export function limited(range: readonly [number, number], whole: readonly [number, number], least = 4): [number, number] {
  const size = Math.min(Math.max(range[1] - range[0], Math.min(least, whole[1] - whole[0])), whole[1] - whole[0]);
  const middle = (range[0] + range[1]) / 2;
  const lo = Math.min(Math.max(range[1] - range[0] === size ? range[0] : middle - size / 2, whole[0]), whole[1] - size);
  return [lo, lo + size];
}
