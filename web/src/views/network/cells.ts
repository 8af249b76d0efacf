// The cells of one row of the map: of a tensor as they came, of a module pooled, of two runs their difference.
import { kHasInfinity, kHasNan, kRecorded, kSpikeDown, kSpikeUp, kTileCells } from './api';
import type { Row } from './rows';
import { type StatisticInfo, pooled } from './statistics';
import type { Layer, TileStore } from './tiles';

export interface Cells {
  values: Float32Array; // 256, in the units that are shown
  flags: Uint8Array;
  key: string; // changes when they do
}

const kSpikes = kSpikeUp | kSpikeDown;
const kBad = kHasNan | kHasInfinity;

// The cells of a module from those of its tensors. Spikes and bad cells of any member are the module's.
export function pooledCells(members: readonly Cells[], counts: readonly number[], info: StatisticInfo, past: boolean): Cells {
  const values = new Float32Array(kTileCells).fill(NaN);
  const flags = new Uint8Array(kTileCells);
  const some: number[] = [];
  for (let c = 0; c < kTileCells; ++c) {
    for (let m = 0; m < members.length; ++m) {
      flags[c]! |= members[m]!.flags[c]!;
      some[m] = members[m]!.values[c]!;
    }
    // Of distances from the past, the farthest one.
    if (past) values[c] = some.reduce((worst, z) => (Math.abs(z) > Math.abs(worst) || Number.isNaN(worst) ? z : worst), NaN);
    else values[c] = pooled(info.pool, some, counts, info.id === 'l2');
  }
  return { values, flags, key: members.map((one) => one.key).join(',') };
}

// B against A: on a logarithmic scale as powers of two, otherwise as a difference.
export function differenceCells(a: Cells, b: Cells, log: boolean): Cells {
  const values = new Float32Array(kTileCells).fill(NaN);
  const flags = new Uint8Array(kTileCells);
  for (let c = 0; c < kTileCells; ++c) {
    const [before, after] = [a.flags[c]!, b.flags[c]!];
    if (!(before & after & kRecorded)) continue;
    flags[c] = kRecorded | ((before ^ after) & kBad); // what only one of them has
    const [x, y] = [a.values[c]!, b.values[c]!];
    values[c] = x === y ? 0 : log ? Math.log2(y / x) : y - x;
    if (!Number.isFinite(values[c]!)) values[c] = NaN;
  }
  return { values, flags, key: `${a.key}-${b.key}` };
}

// The member of a module that one should look at: bad elements come first, then spikes, then what stands out most.
export function worstOf(members: readonly { value: number; flags: number }[]): number {
  const rank = (one: { value: number; flags: number }) =>
    one.flags & kHasNan ? 4 : one.flags & kHasInfinity ? 3 : one.flags & kSpikes ? 2 : Number.isNaN(one.value) ? 0 : 1;
  let worst = -1;
  members.forEach((one, i) => {
    const best = members[worst];
    if (!best || rank(one) > rank(best) || (rank(one) === rank(best) && Math.abs(one.value) > Math.abs(best.value))) worst = i;
  });
  return worst;
}

export interface Source {
  store: TileStore;
  a: Layer;
  b: Layer | null; // not null: the difference of both
  info: StatisticInfo;
  past: boolean;
  countOf: (tag: string) => number; // elements of a tensor
}

const kMostPooled = 4000;
const poolCache = new Map<string, Cells>();

function ofTensor(source: Source, layer: Layer, tag: string, level: number, tile: number): Cells | null {
  const place = layer.blocks.placeOf.get(tag);
  const found = place && source.store.find(layer, place.block, level, tile);
  if (!found || !place) return null;
  const begin = place.row * kTileCells;
  let values = found.data.values.subarray(begin, begin + kTileCells);
  if (source.info.factor && !source.past) values = values.map((value) => value * source.info.factor!);
  return { values, flags: found.data.flags.subarray(begin, begin + kTileCells), key: `${found.serial}:${place.row}` };
}

function ofRow(source: Source, layer: Layer, row: Row, level: number, tile: number): Cells | null {
  if (!row.group) return ofTensor(source, layer, row.tensors[0]!.tag, level, tile);
  const members: Cells[] = [];
  for (const { tag } of row.tensors) {
    const cells = ofTensor(source, layer, tag, level, tile);
    if (!cells) return null;
    members.push(cells);
  }
  const key = `${source.info.id}|${source.past}|${members.map((one) => one.key).join(',')}`;
  let made = poolCache.get(key);
  if (!made) {
    made = pooledCells(members, row.tensors.map(({ tag }) => source.countOf(tag)), source.info, source.past);
    if (poolCache.size >= kMostPooled) poolCache.clear();
    poolCache.set(key, made);
  }
  return made;
}

// Null if a tile is missing.
export function cellsOf(source: Source, row: Row, level: number, tile: number): Cells | null {
  const a = ofRow(source, source.a, row, level, tile);
  if (!source.b || !a) return a;
  const b = ofRow(source, source.b, row, level, tile);
  return b && differenceCells(a, b, source.info.log);
}

// The member of a module that stands out in a cell.
export function worstMember(source: Source, row: Row, level: number, cell: number): string | null {
  const tile = Math.floor(cell / kTileCells);
  const at = cell - tile * kTileCells;
  const members = row.tensors.map((tensor) => {
    const found = cellsOf(source, { ...row, group: false, tensors: [tensor] }, level, tile);
    return { value: found?.values[at] ?? NaN, flags: found?.flags[at] ?? 0 };
  });
  return row.tensors[worstOf(members)]?.name ?? null;
}
