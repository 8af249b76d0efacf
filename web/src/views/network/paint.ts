// The picture of the map: one pixel per cell and row, stretched to the screen by the canvas.
import { kHasInfinity, kHasNan, kRecorded, kSpikeDown, kSpikeUp, kTileCells } from './api';
import { type Cells, cellsOf, type Source } from './cells';
import { positionOf, type Scale } from './colour';
import { cellAt, cellSize, type Frame } from './frame';
import type { Row } from './rows';

export interface Palette {
  table: Uint32Array;
  nan: number;
  infinity: number;
  undefined: number; // recorded, but the statistic has no value
}

const kSpikes = kSpikeUp | kSpikeDown;

export function coloursOf(cells: Cells, scale: Scale, palette: Palette): Uint32Array {
  const colours = new Uint32Array(kTileCells); // 0: nothing was recorded
  const last = palette.table.length - 1;
  for (let c = 0; c < kTileCells; ++c) {
    const flags = cells.flags[c]!;
    if (!(flags & kRecorded)) continue;
    const value = cells.values[c]!;
    if (flags & kHasNan) colours[c] = palette.nan;
    else if (flags & kHasInfinity) colours[c] = palette.infinity;
    else if (Number.isNaN(value)) colours[c] = palette.undefined;
    else colours[c] = palette.table[Math.round(Math.min(1, Math.max(0, positionOf(scale, value))) * last)]!;
  }
  return colours;
}

export interface Spike {
  row: number; // among the painted ones
  cell: number;
  up: boolean;
}

export interface Picture {
  image: ImageData | null;
  firstCell: number;
  spikes: Spike[];
  complete: boolean; // every tile was there
}

interface Coloured {
  cells: Cells;
  colours: Uint32Array;
}

const kMostKept = 20_000;
const kFarthest = 10; // levels that a coarser tile may be away
const kMostSpikes = 3000;

// Keeps the colours of the rows between frames: a pan only copies them.
export class Painter {
  private readonly kept = new Map<string, Coloured>();
  private image: ImageData | null = null;

  private coloured(source: Source, row: Row, level: number, tile: number, scale: Scale, key: string, palette: Palette): Coloured | null {
    const cells = cellsOf(source, row, level, tile);
    if (!cells) return null;
    const id = `${key}|${cells.key}`;
    let made = this.kept.get(id);
    if (!made) {
      made = { cells, colours: coloursOf(cells, scale, palette) };
      if (this.kept.size >= kMostKept) this.kept.clear();
      this.kept.set(id, made);
    }
    return made;
  }

  // Rows [first, end) over the cells of the frame.
  paint(source: Source, rows: readonly Row[], frame: Frame, scale: Scale, key: string, palette: Palette): Picture {
    const firstCell = cellAt(frame.lo, frame.level);
    const cells = cellAt(frame.hi - 1e-9, frame.level) - firstCell + 1;
    const picture: Picture = { image: null, firstCell, spikes: [], complete: true };
    if (cells <= 0 || rows.length === 0) return picture;
    if (this.image?.width !== cells || this.image.height !== rows.length) this.image = new ImageData(cells, rows.length);
    const pixels = new Uint32Array(this.image.data.buffer);
    pixels.fill(0);
    picture.image = this.image;
    rows.forEach((row, r) => {
      const hold = Math.ceil((1.5 * Math.min(...row.tensors.map((tensor) => tensor.interval))) / cellSize(frame.level));
      const out = pixels.subarray(r * cells, (r + 1) * cells);
      this.paintRow(source, row, r, frame.level, firstCell, out, hold, scale, key, palette, picture);
    });
    return picture;
  }

  private paintRow(
    source: Source, row: Row, r: number, level: number, firstCell: number, out: Uint32Array, hold: number,
    scale: Scale, key: string, palette: Palette, picture: Picture,
  ): void {
    let colour = 0; // of the last recorded cell, which holds until the next record
    let age = Infinity;
    let wasSpike = false;
    const begin = firstCell - hold; // what is left of the screen may hold into it
    for (let cell = begin; cell < firstCell + out.length; ) {
      const tile = Math.floor(cell / kTileCells);
      const end = Math.min((tile + 1) * kTileCells, firstCell + out.length);
      const found = this.coloured(source, row, level, tile, scale, key, palette);
      if (!found) {
        picture.complete = picture.complete && end <= firstCell;
        this.paintCoarser(source, row, level, cell, end, firstCell, out, scale, key, palette);
        age = Infinity;
        cell = end;
        continue;
      }
      for (let at = cell - tile * kTileCells; cell < end; ++cell, ++at) {
        const now = found.colours[at]!;
        if (now !== 0) {
          colour = now;
          age = 0;
          const spike = (found.cells.flags[at]! & kSpikes) !== 0;
          if (spike && !wasSpike && cell >= firstCell && picture.spikes.length < kMostSpikes)
            picture.spikes.push({ row: r, cell, up: (found.cells.flags[at]! & kSpikeUp) !== 0 });
          wasSpike = spike;
        } else ++age;
        if (cell >= firstCell && age < hold) out[cell - firstCell] = colour;
      }
    }
  }

  // Until a tile arrives, larger cells stand for it.
  private paintCoarser(
    source: Source, row: Row, level: number, begin: number, end: number, firstCell: number, out: Uint32Array,
    scale: Scale, key: string, palette: Palette,
  ): void {
    for (let up = 1; up <= kFarthest; ++up) {
      const factor = 2 ** up;
      const tile = Math.floor(begin / factor / kTileCells);
      const found = this.coloured(source, row, level + up, tile, scale, key, palette);
      if (!found) continue;
      for (let cell = Math.max(begin, firstCell); cell < end; ++cell) {
        const at = Math.floor(cell / factor) - tile * kTileCells;
        if (at >= 0 && at < kTileCells) out[cell - firstCell] = found.colours[at]!;
      }
      return;
    }
  }
}
