import { describe, expect, it } from 'vitest';

import { decodePng, pixelAt } from './png';

const big = (value: number): number[] => [24, 16, 8, 0].map((shift) => (value >>> shift) & 255);

// Checksums are zeros: the browser has looked at them when it showed the image.
const chunk = (name: string, body: Iterable<number>): number[] => {
  const bytes = [...body];
  return [...big(bytes.length), ...[...name].map((c) => c.charCodeAt(0)), ...bytes, 0, 0, 0, 0];
};

async function deflate(bytes: number[]): Promise<Uint8Array> {
  const packed = new Blob([Uint8Array.from(bytes)]).stream().pipeThrough(new CompressionStream('deflate'));
  return new Uint8Array(await new Response(packed).arrayBuffer());
}

// Rows begin with their filter. The pixels are split over two chunks, as writers may do.
async function png(
  width: number, height: number, bits: number, colour: number, rows: number[], extra: number[] = [],
): Promise<ArrayBuffer> {
  const packed = await deflate(rows);
  return Uint8Array.from([
    0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a,
    ...chunk('IHDR', [...big(width), ...big(height), bits, colour, 0, 0, 0]), ...extra,
    ...chunk('IDAT', packed.subarray(0, 5)), ...chunk('IDAT', packed.subarray(5)), ...chunk('IEND', []),
  ]).buffer;
}

describe('decodePng', () => {
  it('gives the numbers of the file in 8 and in 16 bits', async () => {
    const grey = await decodePng(await png(2, 1, 8, 0, [0, 7, 250]));
    expect([pixelAt(grey!, 0, 0), pixelAt(grey!, 1, 0)]).toEqual([[7], [250]]);
    const deep = await decodePng(await png(2, 1, 16, 0, [0, 1, 2, 0xff, 0xfe]));
    expect([pixelAt(deep!, 0, 0), pixelAt(deep!, 1, 0)]).toEqual([[0x0102], [0xfffe]]);
    const colour = await decodePng(await png(1, 2, 8, 6, [0, 1, 2, 3, 4, 0, 5, 6, 7, 8]));
    expect(pixelAt(colour!, 0, 1)).toEqual([5, 6, 7, 8]);
  });

  it('undoes every filter', async () => {
    const rows = [0, 10, 20, 30, 1, 5, 5, 5, 2, 1, 1, 1, 3, 10, 10, 10, 4, 1, 2, 3];
    const image = await decodePng(await png(3, 5, 8, 0, rows));
    const row = (y: number): number[] => [0, 1, 2].map((x) => pixelAt(image!, x, y)[0]!);
    expect(row(0)).toEqual([10, 20, 30]);
    expect(row(1)).toEqual([5, 10, 15]);
    expect(row(2)).toEqual([6, 11, 16]);
    expect(row(3)).toEqual([13, 22, 29]);
    expect(row(4)).toEqual([14, 24, 32]);
  });

  it('reads bits and palettes', async () => {
    const bits = await decodePng(await png(3, 1, 1, 0, [0, 0b10100000]));
    expect([0, 1, 2].map((x) => pixelAt(bits!, x, 0)[0])).toEqual([1, 0, 1]);
    const palette = chunk('PLTE', [1, 2, 3, 200, 100, 50]);
    const named = await decodePng(await png(2, 1, 4, 3, [0, 0x10], palette));
    expect([pixelAt(named!, 0, 0), pixelAt(named!, 1, 0)]).toEqual([[200, 100, 50], [1, 2, 3]]);
  });

  it('gives nothing for what it cannot read', async () => {
    expect(await decodePng(new ArrayBuffer(0))).toBeNull();
    expect(await decodePng(Uint8Array.from(Array(64).fill(1)).buffer)).toBeNull();
    expect(await decodePng(await png(2, 2, 8, 0, [0, 7, 250]))).toBeNull(); // too short
    expect(await decodePng(await png(1, 1, 8, 0, [9, 7]))).toBeNull(); // no such filter
    expect(await decodePng(await png(1, 1, 3, 0, [0, 7]))).toBeNull();
    const whole = await png(2, 1, 8, 0, [0, 7, 250]);
    for (let size = 0; size < whole.byteLength - 12; ++size) await decodePng(whole.slice(0, size));
  });
});
