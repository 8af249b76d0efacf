// The drawing operations that charts need: a canvas has them, and so does the SVG writer.
export type Painter = Pick<
  CanvasRenderingContext2D,
  | 'save'
  | 'restore'
  | 'beginPath'
  | 'moveTo'
  | 'lineTo'
  | 'closePath'
  | 'rect'
  | 'clip'
  | 'stroke'
  | 'fill'
  | 'fillRect'
  | 'fillText'
  | 'arc'
  | 'setLineDash'
  | 'strokeStyle'
  | 'fillStyle'
  | 'lineWidth'
  | 'lineJoin'
  | 'globalAlpha'
  | 'font'
  | 'textAlign'
  | 'textBaseline'
>;

export interface Ink {
  card: string;
  grid: string;
  text: string;
  muted: string;
  cursor: string;
  accent: string;
  nan: string;
  inf: string;
}

let known: { theme: string; ink: Ink } | null = null;

// The theme's colours, as in base.css.
export function inkOf(theme: string): Ink {
  if (known?.theme === theme) return known.ink;
  const style = getComputedStyle(document.documentElement);
  const of = (name: string) => style.getPropertyValue(`--${name}`).trim();
  const ink = {
    card: of('card'),
    grid: of('grid'),
    text: of('text'),
    muted: of('muted'),
    cursor: of('cursor'),
    accent: of('accent'),
    nan: of('nan'),
    inf: of('inf'),
  };
  known = { theme, ink };
  return ink;
}

// As in base.css.
export const kFont = '11px Arial, Arimo, "Liberation Sans", Helvetica, "Sonde fallback", sans-serif';
