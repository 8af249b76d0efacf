import { describe, expect, it } from 'vitest';

import { decodeWav, peaks } from './wav';

interface Made {
  code: number;
  bits: number;
  channels: number;
  data: number[]; // bytes
  before?: number[]; // chunks before the format
  extensible?: boolean;
  claimed?: number; // size of the data, if it is not the true one
}

const ascii = (text: string): number[] => [...text].map((c) => c.charCodeAt(0));
const little = (value: number, bytes: number): number[] => Array.from({ length: bytes }, (_, i) => (value >>> (8 * i)) & 255);

function wav({ code, bits, channels, data, before = [], extensible = false, claimed }: Made): ArrayBuffer {
  const block = (channels * bits) / 8;
  const format = [
    ...little(extensible ? 0xfffe : code, 2), ...little(channels, 2), ...little(8000, 4), ...little(8000 * block, 4),
    ...little(block, 2), ...little(bits, 2),
  ];
  if (extensible) format.push(...little(22, 2), ...little(bits, 2), ...little(0, 4), ...little(code, 2), ...Array<number>(14).fill(0));
  const body = [
    ...ascii('WAVE'), ...before, ...ascii('fmt '), ...little(format.length, 4), ...format, ...ascii('data'),
    ...little(claimed ?? data.length, 4), ...data,
  ];
  return Uint8Array.from([...ascii('RIFF'), ...little(body.length, 4), ...body]).buffer;
}

const bytesOf = (values: Float32Array | Float64Array): number[] => [...new Uint8Array(values.buffer)];

describe('decodeWav', () => {
  it('reads PCM of every width to -1 .. 1', () => {
    const cases: [number, number[], number[]][] = [
      [8, [0, 128, 255], [-1, 0, 127 / 128]],
      [16, [0x00, 0x80, 0, 0, 0xff, 0x7f], [-1, 0, 32767 / 32768]],
      [24, [0, 0, 0x80, 0, 0, 0, 0xff, 0xff, 0x7f, 0xff, 0xff, 0xff], [-1, 0, 8388607 / 8388608, -1 / 8388608]],
      [32, [0, 0, 0, 0x80, 0, 0, 0, 0x40], [-1, 0.5]],
    ];
    for (const [bits, data, expected] of cases) {
      const sound = decodeWav(wav({ code: 1, bits, channels: 1, data }));
      expect(sound.rate).toBe(8000);
      expect(sound.format).toBe(`${bits}-bit PCM`);
      expect([...sound.channels[0]!]).toEqual(expected.map(Math.fround));
    }
  });

  it('reads floats of both widths', () => {
    const values = [0, -0.5, 1.25];
    const single = decodeWav(wav({ code: 3, bits: 32, channels: 1, data: bytesOf(Float32Array.from(values)) }));
    expect([...single.channels[0]!]).toEqual(values);
    const double = decodeWav(wav({ code: 3, bits: 64, channels: 1, data: bytesOf(Float64Array.from(values)) }));
    expect([...double.channels[0]!]).toEqual(values);
    expect(double.format).toBe('64-bit float');
  });

  it('takes channels apart', () => {
    const sound = decodeWav(wav({ code: 1, bits: 8, channels: 2, data: [128, 0, 128, 192] }));
    expect(sound.channels.map((c) => [...c])).toEqual([[0, 0], [-1, 0.5]]);
  });

  it('passes over chunks that it does not know, padded to even sizes, and reads the extensible header', () => {
    const before = [...ascii('LIST'), ...little(3, 4), 1, 2, 3, 0];
    const sound = decodeWav(wav({ code: 1, bits: 16, channels: 1, data: [0, 0x40], before, extensible: true }));
    expect([...sound.channels[0]!]).toEqual([0.5]);
  });

  it('reads as much as there is of a file that was cut off', () => {
    expect(decodeWav(wav({ code: 1, bits: 16, channels: 1, data: [0, 0, 0, 0, 1], claimed: 1000 })).channels[0]!.length).toBe(2);
  });

  it('says what is wrong', () => {
    expect(() => decodeWav(new ArrayBuffer(4))).toThrow('not a WAV file');
    expect(() => decodeWav(wav({ code: 7, bits: 8, channels: 1, data: [] }))).toThrow('format 7');
    expect(() => decodeWav(wav({ code: 1, bits: 8, channels: 0, data: [] }))).toThrow('0 channels');
    expect(() => decodeWav(wav({ code: 1, bits: 8, channels: 1, data: [] }).slice(0, 36))).toThrow('no samples');
  });
});

describe('peaks', () => {
  it('are the extremes of each stretch', () => {
    const { low, high } = peaks(Float32Array.from([0, 1, -1, 0.5, 0.25, 0.75]), 3);
    expect([...low]).toEqual([0, -1, 0.25]);
    expect([...high]).toEqual([1, 0.5, 0.75]);
  });

  it('repeat samples if there are more columns, and count what is not finite', () => {
    const { high, notFinite } = peaks(Float32Array.from([0.5, NaN]), 4);
    expect([...high]).toEqual([0.5, 0.5, 0, 0]);
    expect(notFinite).toBe(1);
    expect([...peaks(new Float32Array(), 2).high]).toEqual([0, 0]);
  });
});
