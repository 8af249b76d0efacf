// Colours of the charts: viridis for the order of steps; everything else from the page's theme.
import { viridis } from '../../viridis';

export interface Theme {
  text: string;
  faint: string; // axis labels
  line: string; // grid
  ground: string; // background
  cursor: string;
  nan: string;
  infinity: string;
  dark: boolean;
}

export function theme(of: Element): Theme {
  const style = getComputedStyle(of);
  const read = (name: string): string => style.getPropertyValue(name).trim() || '#888';
  return {
    text: read('--text'),
    faint: read('--muted'),
    line: read('--grid'),
    ground: read('--card'),
    cursor: read('--text'),
    nan: read('--nan'),
    infinity: read('--inf'),
    dark: style.colorScheme !== 'light',
  };
}

// The order of steps: excludes the end of viridis that would vanish in the background.
export function stepColour(index: number, count: number, dark: boolean): string {
  const [from, to] = dark ? [0.2, 0.95] : [0.05, 0.85];
  return viridis(from + (to - from) * (count > 1 ? index / (count - 1) : 1));
}
