import { describe, expect, test } from 'vitest';

import { decodeBands, decodeSeries } from './decode';

// Writes what docs/api.md says, byte by byte.
class Writer {
  private bytes: number[] = [];
  text(text: string) {
    for (const c of text) this.bytes.push(c.charCodeAt(0));
    return this;
  }
  u32(...values: number[]) {
    for (const value of values) this.bytes.push(...new Uint8Array(Uint32Array.of(value).buffer));
    return this;
  }
  u64(value: number) {
    this.bytes.push(...new Uint8Array(BigUint64Array.of(BigInt(value)).buffer));
    return this;
  }
  f64(...values: number[]) {
    this.bytes.push(...new Uint8Array(Float64Array.from(values).buffer));
    return this;
  }
  align() {
    while (this.bytes.length % 8 !== 0) this.bytes.push(0);
    return this;
  }
  buffer() {
    return Uint8Array.from(this.bytes).buffer;
  }
}

describe('binary answers', () => {
  test('of series, also if one is missing and one has an odd number of bad columns', () => {
    const buffer = new Writer()
      .text('SNDS').u32(1, 3, 0)
      .u32(0, 2, 1, 1).u64(5_000_000_000)
      .f64(1, 2).f64(10, 20).f64(0.5, -0.5)
      .f64(2).f64(20).f64(0.25)
      .f64(3).f64(30).u32(7, 8, 9).align()
      .u32(1, 0, 0, 0).u64(0)
      .u32(0, 1, 0, 0).u64(1).f64(4, 40, 1.5)
      .buffer();
    const [first, second, third] = decodeSeries(buffer);
    expect(first?.found).toBe(true);
    expect(first?.total).toBe(5_000_000_000);
    expect([...(first?.raw.value ?? [])]).toEqual([0.5, -0.5]);
    expect([...(first?.smooth.value ?? [])]).toEqual([0.25]);
    expect([first?.bad.nan[0], first?.bad.posInf[0], first?.bad.negInf[0]]).toEqual([7, 8, 9]);
    expect(second?.found).toBe(false);
    expect([...(third?.raw.step ?? []), ...(third?.raw.time ?? []), ...(third?.raw.value ?? [])]).toEqual([4, 40, 1.5]);
  });

  test('of bands', () => {
    const buffer = new Writer()
      .text('SNDB').u32(1, 2, 0)
      .u32(0, 1).u64(12).f64(1, 2, 3, 4, 5).u32(6).align()
      .u32(0, 1).u64(1).f64(7, 8, 9, 10, 11).u32(2).align()
      .buffer();
    const [first, second] = decodeBands(buffer);
    expect([first?.x[0], first?.mean[0], first?.std[0], first?.min[0], first?.max[0], first?.count[0]]).toEqual([1, 2, 3, 4, 5, 6]);
    expect([second?.x[0], second?.count[0], second?.total]).toEqual([7, 2, 1]);
  });

  test('of another version are rejected, with a message', () => {
    expect(() => decodeSeries(new Writer().text('SNDS').u32(2, 0, 0).buffer())).toThrow(/reload/);
    expect(() => decodeSeries(new Writer().text('HTML').u32(1, 0, 0).buffer())).toThrow(/reload/);
    expect(() => decodeSeries(new ArrayBuffer(3))).toThrow(/too short/);
    expect(() => decodeSeries(new Writer().text('SNDS').u32(1, 1, 0).u32(0, 1000, 0, 0).u64(1).buffer())).toThrow();
  });
});
