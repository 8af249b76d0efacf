// Decodes PNG bytes to the recorded numbers: all bit depths and colour types, as in the file, whereas a canvas would
// give eight bits of red, green and blue. Interlaced files are left to the canvas.

export interface Pixels {
  width: number;
  height: number;
  channels: number; // 1 grey, 2 grey and alpha, 3 RGB, 4 RGBA
  bits: number; // of each number
  data: Uint8Array | Uint16Array; // row by row, channels together
}

const kSignature = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a];
const kMostPixels = 1 << 26; // a small file may claim anything

interface Header {
  width: number;
  height: number;
  bits: number;
  colour: number;
  interlaced: boolean;
}

interface Parts {
  header: Header;
  palette: Uint8Array;
  packed: Uint8Array<ArrayBuffer>;
}

// Null if it is not a PNG that can be decoded here.
export async function decodePng(bytes: ArrayBuffer): Promise<Pixels | null> {
  const parts = split(new Uint8Array(bytes));
  if (!parts) return null;
  const { header, palette } = parts;
  const samples = { 0: 1, 2: 3, 3: 1, 4: 2, 6: 4 }[header.colour];
  const sound = header.bits <= 16 && [1, 2, 4, 8, 16].includes(header.bits);
  if (!samples || !sound || header.interlaced || header.width * header.height > kMostPixels) return null;
  const row = Math.ceil((header.width * samples * header.bits) / 8);
  const raw = await inflate(parts.packed, (row + 1) * header.height);
  if (!raw) return null;
  const plain = unfilter(raw, row, header.height, Math.max(1, (samples * header.bits) >> 3));
  return plain && unpack(plain, row, header, samples, palette);
}

function split(bytes: Uint8Array): Parts | null {
  if (bytes.length < 33 || kSignature.some((b, i) => bytes[i] !== b)) return null;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const pieces: Uint8Array[] = [];
  let header: Header | null = null;
  let palette = new Uint8Array();
  for (let at = 8; at + 12 <= bytes.length; ) {
    const size = view.getUint32(at);
    const name = String.fromCharCode(...bytes.subarray(at + 4, at + 8));
    const body = bytes.subarray(at + 8, at + 8 + size);
    if (body.length < size) return null;
    if (name === 'IHDR' && size >= 13) {
      header = {
        width: view.getUint32(at + 8), height: view.getUint32(at + 12), bits: body[8]!, colour: body[9]!, interlaced: body[12] !== 0,
      };
    } else if (name === 'PLTE') {
      palette = body.slice();
    } else if (name === 'IDAT') {
      pieces.push(body);
    } else if (name === 'IEND') {
      break;
    }
    at += 12 + size;
  }
  if (!header || pieces.length === 0) return null;
  const packed = new Uint8Array(pieces.reduce((sum, piece) => sum + piece.length, 0));
  pieces.reduce((at, piece) => (packed.set(piece, at), at + piece.length), 0);
  return { header, palette, packed };
}

// Exactly `size` bytes, or null; does not wait for more.
async function inflate(packed: Uint8Array<ArrayBuffer>, size: number): Promise<Uint8Array | null> {
  const reader = new Blob([packed]).stream().pipeThrough(new DecompressionStream('deflate')).getReader();
  const all = new Uint8Array(size);
  let filled = 0;
  try {
    while (filled < size) {
      const { done, value } = await reader.read();
      if (done) return null;
      all.set(value.subarray(0, size - filled), filled);
      filled += value.length;
    }
    await reader.cancel();
  } catch {
    return null;
  }
  return all;
}

// Each row begins with its filter type.
function unfilter(raw: Uint8Array, row: number, height: number, back: number): Uint8Array | null {
  const out = new Uint8Array(row * height);
  for (let y = 0; y < height; ++y) {
    const filter = raw[y * (row + 1)]!;
    if (filter > 4) return null;
    const from = y * (row + 1) + 1;
    const to = y * row;
    for (let x = 0; x < row; ++x) {
      const left = x >= back ? out[to + x - back]! : 0;
      const up = y > 0 ? out[to + x - row]! : 0;
      const corner = x >= back && y > 0 ? out[to + x - row - back]! : 0;
      out[to + x] = raw[from + x]! + predicted(filter, left, up, corner);
    }
  }
  return out;
}

function predicted(filter: number, left: number, up: number, corner: number): number {
  if (filter === 0) return 0;
  if (filter === 1) return left;
  if (filter === 2) return up;
  if (filter === 3) return (left + up) >> 1;
  const guess = left + up - corner;
  const a = Math.abs(guess - left);
  const b = Math.abs(guess - up);
  const c = Math.abs(guess - corner);
  return a <= b && a <= c ? left : b <= c ? up : corner;
}

function unpack(plain: Uint8Array, row: number, header: Header, samples: number, palette: Uint8Array): Pixels {
  const { width, height, bits, colour } = header;
  const perRow = width * samples;
  const data = bits === 16 ? new Uint16Array(perRow * height) : new Uint8Array(perRow * height);
  const mask = (1 << Math.min(bits, 8)) - 1;
  for (let y = 0; y < height; ++y) {
    for (let i = 0; i < perRow; ++i) {
      const at = y * row;
      if (bits === 16) data[y * perRow + i] = (plain[at + i * 2]! << 8) | plain[at + i * 2 + 1]!;
      else if (bits === 8) data[y * perRow + i] = plain[at + i]!;
      else data[y * perRow + i] = (plain[at + ((i * bits) >> 3)]! >> (8 - bits - ((i * bits) & 7))) & mask;
    }
  }
  if (colour !== 3) return { width, height, channels: samples, bits, data };
  const rgb = new Uint8Array(width * height * 3);
  for (let i = 0; i < width * height; ++i) rgb.set(palette.subarray(data[i]! * 3, data[i]! * 3 + 3), i * 3);
  return { width, height, channels: 3, bits: 8, data: rgb };
}

export function pixelAt(of: Pixels, x: number, y: number): number[] {
  const at = (y * of.width + x) * of.channels;
  return Array.from(of.data.subarray(at, at + of.channels));
}
