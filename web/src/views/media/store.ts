// A cache of fetched bytes and images: the newest are kept, so that going back and forth over steps is instant.
import * as api from '../../api';
import { decodePng, type Pixels } from './png';

const kMostBytes = 96 << 20;

class Store {
  private kept = new Map<string, { bytes: Promise<ArrayBuffer>; size: number }>(); // the oldest first
  private size = 0;

  get(url: string): Promise<ArrayBuffer> {
    const known = this.kept.get(url);
    if (known) {
      this.kept.delete(url);
      this.kept.set(url, known);
      return known.bytes;
    }
    const entry = { bytes: api.bytes(url), size: 0 };
    this.kept.set(url, entry);
    entry.bytes.then(
      (bytes) => {
        if (this.kept.get(url) !== entry) return;
        entry.size = bytes.byteLength;
        this.size += entry.size;
        this.trim();
      },
      () => this.kept.get(url) === entry && this.kept.delete(url), // so that it is tried again
    );
    return entry.bytes;
  }

  private trim(): void {
    for (const [url, { size }] of this.kept) {
      if (this.size <= kMostBytes) return;
      this.kept.delete(url);
      this.size -= size;
    }
  }
}

const store = new Store();

export const bytesOf = (url: string): Promise<ArrayBuffer> => store.get(url);

export function preload(urls: readonly string[]): void {
  for (const url of urls) bytesOf(url).catch(() => undefined); // reported when it is shown
}

export interface Picture {
  url: string;
  bitmap: ImageBitmap;
  bytes: ArrayBuffer;
}

export async function pictureOf(url: string): Promise<Picture> {
  const bytes = await bytesOf(url);
  try {
    // Colours as in the file: a colour profile would change the numbers.
    const bitmap = await createImageBitmap(new Blob([bytes]), { colorSpaceConversion: 'none', premultiplyAlpha: 'none' });
    return { url, bitmap, bytes };
  } catch {
    throw new Error('The browser cannot decode this image.');
  }
}

const decoded = new WeakMap<ImageBitmap, Promise<Pixels>>();

// The numbers of an image: those of the file if it is a PNG, otherwise those that the browser decodes.
export function pixelsOf(picture: Picture): Promise<Pixels> {
  const known = decoded.get(picture.bitmap);
  if (known) return known;
  const made = decodePng(picture.bytes).then((pixels) => pixels ?? rendered(picture.bitmap));
  decoded.set(picture.bitmap, made);
  return made;
}

function rendered(bitmap: ImageBitmap): Pixels {
  const canvas = document.createElement('canvas');
  canvas.width = bitmap.width;
  canvas.height = bitmap.height;
  const context = canvas.getContext('2d', { willReadFrequently: true });
  context?.drawImage(bitmap, 0, 0);
  const data = context?.getImageData(0, 0, bitmap.width, bitmap.height).data ?? new Uint8ClampedArray();
  return { width: bitmap.width, height: bitmap.height, channels: 4, bits: 8, data: new Uint8Array(data.buffer) };
}
