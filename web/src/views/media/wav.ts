// Decodes WAV bytes to samples: PCM of 8, 16, 24 or 32 bits and IEEE floats of 32 or 64. Anything else is an error.

export interface Sound {
  rate: number; // samples a second
  channels: Float32Array[]; // -1 to 1
  format: string; // "16-bit PCM"
}

const kPcm = 1;
const kFloat = 3;
const kExtensible = 0xfffe; // the real format is in the extension

export function decodeWav(bytes: ArrayBuffer): Sound {
  const view = new DataView(bytes);
  if (bytes.byteLength < 12 || text(view, 0) !== 'RIFF' || text(view, 8) !== 'WAVE') throw new Error('This is not a WAV file.');
  let format: Format | null = null;
  for (let at = 12; at + 8 <= bytes.byteLength; ) {
    const name = text(view, at);
    const size = view.getUint32(at + 4, true);
    const from = at + 8;
    const to = Math.min(from + size, bytes.byteLength); // a truncated stream claims more than it has
    if (name === 'fmt ') format = readFormat(view, from, to);
    if (name === 'data') {
      if (!format) throw new Error('The WAV file has samples before their format.');
      return samples(view, from, to, format);
    }
    at = from + size + (size & 1);
  }
  throw new Error('The WAV file has no samples.');
}

interface Format {
  code: number;
  channels: number;
  rate: number;
  bits: number;
}

function text(view: DataView, at: number): string {
  return String.fromCharCode(view.getUint8(at), view.getUint8(at + 1), view.getUint8(at + 2), view.getUint8(at + 3));
}

function readFormat(view: DataView, from: number, to: number): Format {
  if (to - from < 16) throw new Error('The WAV file has no sample format.');
  let code = view.getUint16(from, true);
  if (code === kExtensible && to - from >= 26) code = view.getUint16(from + 24, true);
  return { code, channels: view.getUint16(from + 2, true), rate: view.getUint32(from + 4, true), bits: view.getUint16(from + 14, true) };
}

function samples(view: DataView, from: number, to: number, format: Format): Sound {
  const read = reader(view, format);
  const { channels, rate, bits } = format;
  if (!read || channels === 0 || rate === 0) {
    throw new Error(`WAV files of format ${format.code} with ${bits} bits and ${channels} channels cannot be drawn.`);
  }
  const size = bits / 8;
  const frames = Math.floor((to - from) / (size * channels));
  const all = Array.from({ length: channels }, () => new Float32Array(frames));
  for (let i = 0, at = from; i < frames; ++i) {
    for (let c = 0; c < channels; ++c, at += size) all[c]![i] = read(at);
  }
  return { rate, channels: all, format: `${bits}-bit ${format.code === kFloat ? 'float' : 'PCM'}` };
}

function reader(view: DataView, { code, bits }: Format): ((at: number) => number) | null {
  if (code === kPcm && bits === 8) return (at) => (view.getUint8(at) - 128) / 128; // the only unsigned format
  if (code === kPcm && bits === 16) return (at) => view.getInt16(at, true) / 0x8000;
  if (code === kPcm && bits === 24) return (at) => ((view.getInt16(at + 1, true) << 8) | view.getUint8(at)) / 0x800000;
  if (code === kPcm && bits === 32) return (at) => view.getInt32(at, true) / 0x80000000;
  if (code === kFloat && bits === 32) return (at) => view.getFloat32(at, true);
  if (code === kFloat && bits === 64) return (at) => view.getFloat64(at, true);
  return null;
}

export interface Peaks {
  low: Float32Array;
  high: Float32Array;
  notFinite: number; // samples that are NaN or infinite
}

// Smallest and largest sample of each of `columns` sections; if there are more columns than samples, the nearest one.
export function peaks(channel: Float32Array, columns: number): Peaks {
  const low = new Float32Array(columns);
  const high = new Float32Array(columns);
  let notFinite = 0;
  for (let i = 0; i < columns; ++i) {
    const from = Math.floor((i * channel.length) / columns);
    const to = Math.max(from + 1, Math.floor(((i + 1) * channel.length) / columns));
    let least = Infinity;
    let most = -Infinity;
    for (let at = from; at < to && at < channel.length; ++at) {
      const value = channel[at]!;
      if (value < least) least = value;
      if (value > most) most = value;
    }
    low[i] = Number.isFinite(least) ? least : 0;
    high[i] = Number.isFinite(most) ? most : 0;
  }
  for (const value of channel) if (!Number.isFinite(value)) ++notFinite;
  return { low, high, notFinite };
}
