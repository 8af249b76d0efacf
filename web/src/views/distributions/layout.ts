// Divides a card into panels. CSS pixels.

export const kMostPanels = 12; // more can be neither compared nor drawn at once
export const kMostTogether = 24; // runs in one chart
export const kPanelTitle = 20;
const kPanelWidth = 220; // at least
const kRow = 250; // height of a card's body
const kNextRow = 220;
const kHead = 38; // of a card, with its border

export interface Grid {
  columns: number;
  rows: number;
  width: number; // of a panel
  height: number;
}

// A number that divides the panels, so that all rows are full, unless that would leave half of the room empty.
function columnsFor(panels: number, most: number): number {
  for (let columns = most; columns > most / 2; --columns) if (panels % columns === 0) return columns;
  return Math.ceil(panels / Math.ceil(panels / most));
}

export function panelGrid(panels: number, width: number, height: number): Grid {
  const columns = width === 0 ? panels : columnsFor(panels, Math.max(1, Math.min(panels, Math.floor(width / kPanelWidth))));
  const count = Math.max(1, Math.ceil(panels / columns));
  const title = panels > 1 ? kPanelTitle : 0;
  return { columns, rows: count, width: Math.floor(width / columns), height: Math.floor(height / count) - title };
}

export const bodyHeight = (rows: number): number => kRow + (rows - 1) * kNextRow;

// The height of a card in a view of some width.
export function cardHeight(panels: number, width: number): number {
  return kHead + bodyHeight(panelGrid(Math.min(panels, kMostPanels), width, 0).rows);
}
