// The position of a panel that a button opens: below or above the button, and within the visible area. Pixels.
export interface Box {
  top: number;
  bottom: number;
  left: number;
  right: number;
}

const kGap = 4; // between the button and the panel, and between the panel and the edge

export interface Placed {
  up: boolean;
  height: number | null; // maximum height; null: it fits
  shift: number; // to the right
}

// `panel` is the box below the button, at the requested side.
export function placed(panel: Box, button: Box, within: Box): Placed {
  const tall = panel.bottom - panel.top;
  const below = within.bottom - button.bottom - 2 * kGap;
  const above = button.top - within.top - 2 * kGap;
  const up = tall > below && above > below;
  const room = up ? above : below;
  // If it is too wide for both, its left edge stays visible.
  const left = Math.max(within.left + kGap, Math.min(panel.left, panel.left + within.right - kGap - panel.right));
  return { up, height: tall > room ? Math.max(room, 0) : null, shift: left - panel.left };
}
