import { describe, expect, it } from 'vitest';

import { kActual, kFit, panned, pixelUnder, placement, type Zoom, zoomed } from './zoom';

const image = { width: 20, height: 10 };
const frame = { width: 200, height: 200 };

describe('zoom', () => {
  it('fits the whole image, in the middle', () => {
    expect(placement(kFit, image, frame)).toEqual({ left: 0, top: 50, perPixel: 10 });
  });

  it('shows a pixel as a pixel at actual size', () => {
    expect(placement(kActual, image, frame)).toEqual({ left: 90, top: 95, perPixel: 1 });
  });

  it('finds the pixel under the pointer', () => {
    expect(pixelUnder(kFit, image, frame, 0, 50)).toEqual({ x: 0, y: 0 });
    expect(pixelUnder(kFit, image, frame, 199, 149)).toEqual({ x: 19, y: 9 });
    expect(pixelUnder(kFit, image, frame, 100, 40)).toBeNull();
    expect(pixelUnder(kFit, image, frame, 200, 100)).toBeNull();
  });

  it('keeps the place under the pointer', () => {
    let zoom: Zoom = kFit;
    const before = pixelUnder(zoom, image, frame, 123, 77);
    for (let i = 0; i < 12; ++i) {
      zoom = zoomed(zoom, image, frame, 123, 77, 1.3);
      expect(pixelUnder(zoom, image, frame, 123, 77)).toEqual(before);
    }
    expect(placement(zoom, image, frame).perPixel).toBe(80);
  });

  it('ends where the whole image fits, and where pixels are large', () => {
    expect(zoomed(zoomed(kFit, image, frame, 10, 60, 3), image, frame, 10, 60, 0.01)).toEqual(kFit);
    expect(zoomed(kFit, image, frame, 100, 100, 1e9).scale).toBe(8);
  });

  it('follows a drag, and never loses the image', () => {
    const close: Zoom = { x: 0.5, y: 0.5, scale: 4 };
    const moved = panned(close, image, frame, 40, 0);
    expect(placement(moved, image, frame).left).toBeCloseTo(placement(close, image, frame).left + 40);
    expect(panned(close, image, frame, 1e6, -1e6)).toEqual({ x: 0, y: 1, scale: 4 });
  });
});
