// Colours of the charts: viridis for magnitude and for the order of steps; everything else from the page's theme.

export interface Theme {
  text: string;
  faint: string; // axis labels
  line: string; // grid
  ground: string; // what lies behind the data
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

// Anchors of the map, evenly spread; what lies between is mixed.
const kViridis = [
  [68, 1, 84], [72, 36, 117], [65, 68, 135], [53, 95, 141], [42, 120, 142], [33, 145, 140], [34, 168, 132],
  [68, 191, 112], [122, 209, 81], [189, 223, 38], [253, 231, 37],
] as const;

export function viridisAt(t: number): [number, number, number] {
  const last = kViridis.length - 1;
  const at = Math.min(1, Math.max(0, Number.isNaN(t) ? 0 : t)) * last;
  const i = Math.min(last - 1, Math.floor(at));
  const part = at - i;
  const a = kViridis[i]!;
  const b = kViridis[i + 1]!;
  return [0, 1, 2].map((c) => Math.round(a[c]! + (b[c]! - a[c]!) * part)) as [number, number, number];
}

export function viridis(t: number): string {
  const [r, g, b] = viridisAt(t);
  return `rgb(${r} ${g} ${b})`;
}

// The order of steps: the end of viridis that would vanish in the ground is left out.
export function stepColour(index: number, count: number, dark: boolean): string {
  const [from, to] = dark ? [0.2, 0.95] : [0.05, 0.85];
  return viridis(from + (to - from) * (count > 1 ? index / (count - 1) : 1));
}
