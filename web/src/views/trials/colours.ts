// Colours of trials by magnitude: viridis, without the end that would vanish in the background.
import { inkOf } from '../../chart/painter';
import { viridis } from '../../viridis';
import type { Axis } from './axes';

const kLevels = 64; // few enough to make the strings once, enough for the steps not to show

export const partOf = (dark: boolean): [number, number] => (dark ? [0.15, 1] : [0, 0.85]);

export function mapColour(place: number, dark: boolean): string {
  const [from, to] = partOf(dark);
  return viridis(from + (to - from) * Math.min(1, Math.max(0, place)));
}

// Missing values are grey; non-finite values have their own colour.
export function coloursOf(axis: Axis | undefined, count: number, dark: boolean): string[] {
  const ink = inkOf(dark ? 'dark' : 'light');
  const levels = Array.from({ length: kLevels + 1 }, (_, i) => mapColour(i / kLevels, dark));
  return Array.from({ length: count }, (_, i) => {
    const cell = axis?.column.cells[i] ?? null;
    const place = axis?.place(cell) ?? null;
    if (place !== null) return levels[Math.round(Math.min(1, Math.max(0, place)) * kLevels)]!;
    if (typeof cell !== 'number' || Number.isFinite(cell)) return ink.muted;
    return Number.isNaN(cell) ? ink.nan : ink.inf;
  });
}
