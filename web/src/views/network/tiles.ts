// The tiles of the map: asked for where they are seen, kept, and asked for again when a run has grown.
import { signal } from '@preact/signals';

import { askTile, kTileCells, type TileData } from './api';
import type { Tensor } from './rows';

export const kBlockRows = 256; // tensors in one request
const kBlockBytes = 400_000; // of names in one request: the server takes 1 MiB
const kMostKept = 400; // tiles: some 130 MB
const kAtOnce = 4;

// Tensors of one kind in the order of execution, cut into blocks that are asked for together. A block does not depend
// on filter and order, so that its tiles are kept when those change.
export interface Blocks {
  key: string;
  tags: string[][];
  placeOf: Map<string, { block: number; row: number }>;
}

export function blocksOf(key: string, tensors: readonly Tensor[]): Blocks {
  const tags: string[][] = [];
  const placeOf = new Map<string, { block: number; row: number }>();
  let bytes = Infinity;
  for (const { tag } of tensors) {
    if (bytes + tag.length > kBlockBytes || tags.at(-1)!.length === kBlockRows) {
      tags.push([]);
      bytes = 0;
    }
    bytes += tag.length * 3;
    placeOf.set(tag, { block: tags.length - 1, row: tags.at(-1)!.length });
    tags.at(-1)!.push(tag);
  }
  return { key, tags, placeOf };
}

// What one map shows of one run.
export interface Layer {
  run: string;
  statistic: string;
  cell: string;
  blocks: Blocks;
}

export interface Tile {
  data: TileData;
  layer: Layer;
  first: number; // step
  last: number;
  serial: number; // grows with every tile: a key for what is computed from it
  stale: boolean; // the run has changed in it
}

interface Wanted {
  key: string;
  layer: Layer;
  block: number;
  level: number;
  tile: number;
}

const keyOf = (layer: Layer, block: number, level: number, tile: number): string =>
  `${layer.run}\n${layer.statistic}\n${layer.cell}\n${layer.blocks.key}\n${block}\n${level}\n${tile}`;

export class TileStore {
  // Changes when a tile arrives.
  readonly arrived = signal(0);
  readonly error = signal<string | null>(null);
  private readonly kept = new Map<string, Tile>(); // the most recently used last
  private readonly running = new Map<string, AbortController>();
  private readonly failed = new Set<string>();
  private wanted = new Map<string, Wanted>();
  private serial = 0;

  find(layer: Layer, block: number, level: number, tile: number): Tile | undefined {
    const key = keyOf(layer, block, level, tile);
    const found = this.kept.get(key);
    if (found) {
      this.kept.delete(key);
      this.kept.set(key, found);
    }
    return found;
  }

  // Everything that is seen now: other requests are cancelled.
  want(all: { layer: Layer; block: number; level: number; tile: number }[]): void {
    this.wanted = new Map();
    for (const one of all) {
      const key = keyOf(one.layer, one.block, one.level, one.tile);
      const known = this.kept.get(key);
      if ((known && !known.stale) || this.failed.has(key)) continue;
      this.wanted.set(key, { key, ...one });
    }
    for (const [key, controller] of this.running) if (!this.wanted.has(key)) controller.abort();
    this.next();
  }

  get idle(): boolean {
    return this.running.size === 0 && this.wanted.size === 0;
  }

  // A run has changed. Until its last step of that time the tiles are still true if the run has only grown.
  touch(run: string, grownFrom: number | null): void {
    this.failed.clear();
    for (const tile of this.kept.values())
      if (tile.layer.run === run && (grownFrom === null || tile.last >= grownFrom)) tile.stale = true;
  }

  forget(run: string): void {
    for (const [key, tile] of this.kept) if (tile.layer.run === run) this.kept.delete(key);
  }

  stop(): void {
    this.wanted.clear();
    for (const controller of this.running.values()) controller.abort();
  }

  private next(): void {
    for (const [key, one] of this.wanted) {
      if (this.running.size >= kAtOnce) return;
      if (!this.running.has(key)) void this.ask(one);
    }
  }

  private async ask({ key, layer, block, level, tile }: Wanted): Promise<void> {
    const controller = new AbortController();
    this.running.set(key, controller);
    try {
      const tags = layer.blocks.tags[block] ?? [];
      const question = { run: layer.run, tags, statistic: layer.statistic, level, tile, cell: layer.cell };
      const data = await askTile(question, controller.signal);
      const size = 2 ** level * kTileCells;
      this.kept.delete(key);
      this.kept.set(key, { data, layer, first: tile * size, last: (tile + 1) * size - 1, serial: ++this.serial, stale: false });
      for (const old of this.kept.keys()) {
        if (this.kept.size <= kMostKept) break;
        this.kept.delete(old);
      }
      this.error.value = null;
    } catch (error) {
      if (!controller.signal.aborted) {
        this.failed.add(key);
        this.error.value = error instanceof Error ? error.message : String(error);
      }
    }
    this.running.delete(key);
    if (!controller.signal.aborted) this.wanted.delete(key);
    this.arrived.value = this.arrived.peek() + 1;
    this.next();
  }
}
