// The binary answers of docs/api.md, without copies: the columns are views of the answer's buffer.
import type { Band, Columns, Series } from './api_types';

class Reader {
  private at = 0;
  private readonly view: DataView;
  constructor(private readonly buffer: ArrayBuffer) {
    this.view = new DataView(buffer);
  }
  header(magic: string): number {
    if (this.buffer.byteLength < 16) throw new Error('The answer of the server is too short.');
    const seen = String.fromCharCode(...new Uint8Array(this.buffer, 0, 4));
    const version = this.view.getUint32(4, true);
    if (seen !== magic || version !== 1)
      throw new Error('The server has another version than this page: reload the page.');
    this.at = 16;
    return this.view.getUint32(8, true);
  }
  u32(): number {
    const value = this.view.getUint32(this.at, true);
    this.at += 4;
    return value;
  }
  u64(): number {
    const value = Number(this.view.getBigUint64(this.at, true));
    this.at += 8;
    return value;
  }
  f64s(n: number): Float64Array {
    const values = new Float64Array(this.buffer, this.at, n);
    this.at += 8 * n;
    return values;
  }
  u32s(n: number): Uint32Array {
    const values = new Uint32Array(this.buffer, this.at, n);
    this.at += 4 * n;
    return values;
  }
  align(): void {
    this.at = (this.at + 7) & ~7;
  }
  columns(n: number): Columns {
    return { step: this.f64s(n), time: this.f64s(n), value: this.f64s(n) };
  }
}

export function decodeSeries(buffer: ArrayBuffer): Series[] {
  const reader = new Reader(buffer);
  const count = reader.header('SNDS');
  const all: Series[] = [];
  for (let i = 0; i < count; ++i) {
    const found = reader.u32() === 0;
    const n = reader.u32();
    const m = reader.u32();
    const k = reader.u32();
    const total = reader.u64();
    const raw = reader.columns(n);
    const smooth = reader.columns(m);
    const bad = {
      step: reader.f64s(k),
      time: reader.f64s(k),
      nan: reader.u32s(k),
      posInf: reader.u32s(k),
      negInf: reader.u32s(k),
    };
    reader.align();
    all.push({ found, total, raw, smooth, bad });
  }
  return all;
}

export function decodeBands(buffer: ArrayBuffer): Band[] {
  const reader = new Reader(buffer);
  const count = reader.header('SNDB');
  const all: Band[] = [];
  for (let i = 0; i < count; ++i) {
    const found = reader.u32() === 0;
    const n = reader.u32();
    const total = reader.u64();
    all.push({
      found,
      total,
      x: reader.f64s(n),
      mean: reader.f64s(n),
      std: reader.f64s(n),
      min: reader.f64s(n),
      max: reader.f64s(n),
      count: reader.u32s(n),
    });
    reader.align();
  }
  return all;
}
