// The visible part of an image. Stored in fractions of the image, so that images of any size can share it.

export interface Zoom {
  x: number; // the centre of the visible part, 0 to 1
  y: number;
  scale: number; // relative to the size at which the whole image fits; 1: it fits. 0: actual size, one image pixel per screen pixel
}

export const kFit: Zoom = { x: 0.5, y: 0.5, scale: 1 };
export const kActual: Zoom = { x: 0.5, y: 0.5, scale: 0 };

export interface Size {
  width: number;
  height: number;
}

// The position of the image in its frame, CSS pixels.
export interface Placement {
  left: number;
  top: number;
  perPixel: number; // of the image
}

export function fitScale(image: Size, frame: Size): number {
  return Math.min(frame.width / image.width, frame.height / image.height);
}

function perPixel(zoom: Zoom, image: Size, frame: Size): number {
  return zoom.scale === 0 ? 1 : zoom.scale * fitScale(image, frame);
}

export function placement(zoom: Zoom, image: Size, frame: Size): Placement {
  const size = perPixel(zoom, image, frame);
  return {
    left: frame.width / 2 - zoom.x * image.width * size,
    top: frame.height / 2 - zoom.y * image.height * size,
    perPixel: size,
  };
}

// The pixel at a position in the frame; null outside the image.
export function pixelUnder(zoom: Zoom, image: Size, frame: Size, x: number, y: number): { x: number; y: number } | null {
  const at = placement(zoom, image, frame);
  const column = Math.floor((x - at.left) / at.perPixel);
  const row = Math.floor((y - at.top) / at.perPixel);
  return column >= 0 && row >= 0 && column < image.width && row < image.height ? { x: column, y: row } : null;
}

const kLargest = 80; // CSS pixels of one pixel of the image: enough for its numbers
const kClosest = 4; // times the size at which it fits, even if pixels are larger then

// Zooms in or out around the position under the pointer.
export function zoomed(zoom: Zoom, image: Size, frame: Size, x: number, y: number, factor: number): Zoom {
  const before = placement(zoom, image, frame);
  const fit = fitScale(image, frame);
  const scale = Math.min(Math.max(kClosest, kLargest / fit), Math.max(1, (before.perPixel / fit) * factor));
  if (scale === 1) return kFit;
  const after = scale * fit;
  const fx = (x - before.left) / before.perPixel;
  const fy = (y - before.top) / before.perPixel;
  return limited({
    x: (fx - (x - frame.width / 2) / after) / image.width,
    y: (fy - (y - frame.height / 2) / after) / image.height,
    scale,
  });
}

export function panned(zoom: Zoom, image: Size, frame: Size, dx: number, dy: number): Zoom {
  const size = perPixel(zoom, image, frame);
  return limited({ ...zoom, x: zoom.x - dx / (image.width * size), y: zoom.y - dy / (image.height * size) });
}

// The centre of the frame stays inside the image, so that it cannot get lost.
function limited(zoom: Zoom): Zoom {
  return { ...zoom, x: Math.min(1, Math.max(0, zoom.x)), y: Math.min(1, Math.max(0, zoom.y)) };
}
