// What the map asks: see "The map of a network" in docs/api.md.
import { get, postForBytes } from '../../api';
import type { Num } from '../../api_types';

export const kTileCells = 256;

export const kRecorded = 1;
export const kHasNan = 2;
export const kHasInfinity = 4;
export const kSpikeUp = 8;
export const kSpikeDown = 16;

// Cells of some tensors: values[row * 256 + cell].
export interface TileData {
  rows: number;
  found: boolean[];
  values: Float32Array;
  flags: Uint8Array;
}

export function decodeTile(buffer: ArrayBuffer): TileData {
  const view = new DataView(buffer);
  const short = 'The answer of the server is too short.';
  if (buffer.byteLength < 16) throw new Error(short);
  const magic = String.fromCharCode(...new Uint8Array(buffer, 0, 4));
  if (magic !== 'SNDT' || view.getUint32(4, true) !== 1 || view.getUint32(12, true) !== kTileCells)
    throw new Error('The server has another version than this page: reload the page.');
  const rows = view.getUint32(8, true);
  const cells = rows * kTileCells;
  if (buffer.byteLength !== 16 + 4 * rows + 5 * cells) throw new Error(short);
  const status = new Uint32Array(buffer, 16, rows);
  return {
    rows,
    found: Array.from(status, (one) => one === 0),
    values: new Float32Array(buffer, 16 + 4 * rows, cells),
    flags: new Uint8Array(buffer, 16 + 4 * rows + 4 * cells, cells),
  };
}

export interface TileQuestion {
  run: string;
  tags: string[];
  statistic: string;
  level: number;
  tile: number;
  cell: string;
}

export const askTile = async (question: TileQuestion, signal: AbortSignal): Promise<TileData> =>
  decodeTile(await postForBytes('network/tile', question, signal));

// One tensor at one step, as recorded, and one statistic over the steps of a cell.
export interface CellAnswer {
  steps: number;
  nan_steps: number;
  infinite_steps: number;
  lowest: Num;
  average: Num;
  highest: Num;
  step: number;
  time: number;
  value: Num;
  dtype: string;
  shape: number[];
  count: number;
  nan: number;
  positive_infinity: number;
  negative_infinity: number;
  zeros: number;
  negatives: number;
  min: Num;
  max: Num;
  mean: Num;
  std: Num;
  sum_abs: Num;
  casts: Record<string, { overflow: [number, number]; underflow: [number, number] }>;
}

export interface CellQuestion {
  run: string;
  tag: string;
  statistic: string;
  first: number;
  last: number;
  step: number;
}

export const askCell = (question: CellQuestion, signal?: AbortSignal) =>
  get<CellAnswer>('network/cell', { ...question }, signal);

export interface PartingAnswer {
  compared: number;
  parting: { step: number; tag: string; tag_in_b: string; statistic: string; a: Num; b: Num } | null;
}

export const askParting = (a: string, b: string, signal?: AbortSignal) =>
  get<PartingAnswer>('network/parting', { a, b }, signal);
