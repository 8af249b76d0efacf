// Where a panel goes that a button opens: below it or above it, and within what can be seen. Pixels.
export interface Box {
  top: number;
  bottom: number;
  left: number;
  right: number;
}

const kGap = 4; // between the button and the panel, and between the panel and the edge

export interface Placed {
  up: boolean;
  height: number | null; // that it must not exceed; null: it fits as it is
  shift: number; // to the right
}

// `panel` as it lies below the button, at the side that was wished for.
export function placed(panel: Box, button: Box, within: Box): Placed {
  const tall = panel.bottom - panel.top;
  const below = within.bottom - button.bottom - 2 * kGap;
  const above = button.top - within.top - 2 * kGap;
  const up = tall > below && above > below;
  const room = up ? above : below;
  // Where it is too wide for both, its left edge is the one to see.
  const left = Math.max(within.left + kGap, Math.min(panel.left, panel.left + within.right - kGap - panel.right));
  return { up, height: tall > room ? Math.max(room, 0) : null, shift: left - panel.left };
}
