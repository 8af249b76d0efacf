// One image in a frame: zoom with the wheel, move by dragging, read the pixel under the pointer.
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';

import { dark } from '../../state';
import { cleared } from '../../ui/canvas';
import { Icon } from '../../ui/icons';
import { drawDetails, drawImage, pixelText } from './draw';
import { type Pixels, pixelAt } from './png';
import { brightness, contrast } from './settings';
import { type Picture, pictureOf, pixelsOf } from './store';
import { kActual, kFit, panned, pixelUnder, type Size, type Zoom, zoomed } from './zoom';

export interface Spot {
  x: number; // position as a fraction of the image
  y: number;
}

export interface TileProps {
  url: string;
  label: string;
  frame: Size; // CSS pixels
  file: string; // name of a download
  zoomOf: (image: Size) => Zoom;
  onZoom: (zoom: Zoom, image: Size) => void;
  spot: Spot | null; // under the pointer, in this image or in another one
  onSpot: (spot: Spot | null) => void;
  wheelAlways: boolean; // the wheel does not scroll the page
  onReady: (url: string) => void;
}

export function ImageTile(props: TileProps) {
  const { url, frame, spot } = props;
  const image = useRef<HTMLCanvasElement>(null);
  const details = useRef<HTMLCanvasElement>(null);
  const { picture, error } = usePicture(url, props.onReady);
  const size: Size | null = picture && { width: picture.bitmap.width, height: picture.bitmap.height };
  const zoom = size ? props.zoomOf(size) : kFit;
  const pixels = usePixels(picture, spot !== null || zoom.scale !== 1);
  const marked = size && spot && { x: Math.min(size.width - 1, Math.floor(spot.x * size.width)), y: Math.min(size.height - 1, Math.floor(spot.y * size.height)) };

  useLayoutEffect(() => {
    const context = cleared(image.current, frame.width, frame.height);
    if (context && picture) drawImage(context, picture.bitmap, zoom, frame);
  }, [picture, zoom, frame.width, frame.height]);
  useLayoutEffect(() => {
    const element = details.current;
    const context = cleared(element, frame.width, frame.height);
    if (!element || !context || !size) return;
    const style = getComputedStyle(element);
    const colour = (name: string): string => style.getPropertyValue(name).trim();
    drawDetails(context, pixels, size, zoom, frame, marked, { grid: colour('--muted'), mark: colour('--accent') });
  }, [picture, pixels, zoom, frame.width, frame.height, marked?.x, marked?.y, dark.value]);

  const onMove = (event: PointerEvent): void => {
    if (!size) return;
    if (event.buttons === 1 && zoom.scale !== 1) {
      props.onZoom(panned(zoom, size, frame, event.movementX, event.movementY), size);
      return;
    }
    const under = pixelUnder(zoom, size, frame, event.offsetX, event.offsetY);
    props.onSpot(under && { x: (under.x + 0.5) / size.width, y: (under.y + 0.5) / size.height });
  };
  const onWheel = (event: WheelEvent): void => {
    // A wheel that scrolls the page must not change the image.
    const meant = props.wheelAlways || event.ctrlKey || event.metaKey || zoom.scale !== 1 || document.activeElement === event.currentTarget;
    if (!size || !meant) return;
    event.preventDefault();
    props.onZoom(zoomed(zoom, size, frame, event.offsetX, event.offsetY, 2 ** (-event.deltaY / 200)), size);
  };
  const onKey = (event: KeyboardEvent): void => {
    const next = size && keyZoom(event, zoom, size, frame);
    if (!size || !next) return;
    event.preventDefault();
    event.stopPropagation();
    props.onZoom(next, size);
  };
  const filter = `brightness(${brightness.value}) contrast(${contrast.value})`;
  return (
    <div class="media-tile" style={{ width: `${frame.width}px`, height: `${frame.height}px` }}>
      <canvas ref={image} class="media-image" aria-hidden="true" style={{ filter }} />
      <canvas
        ref={details}
        class={`media-details ${zoom.scale !== 1 ? 'media-zoomed' : ''}`}
        role="img"
        tabIndex={0}
        aria-label={`${props.label}${size ? `, ${size.width} by ${size.height} pixels` : ''}. Plus and minus zoom, 0 fits, 1 is actual size, shift and arrows move.`}
        title="Click, then zoom with the wheel or + and −; drag to move; double-click to fit"
        onPointerMove={onMove}
        onPointerDown={(event) => event.currentTarget.setPointerCapture(event.pointerId)}
        onPointerLeave={() => props.onSpot(null)}
        onDblClick={() => size && props.onZoom(kFit, size)}
        onWheel={onWheel}
        onKeyDown={onKey}
      />
      {picture && (
        <a class="media-download icon-button" href={url.replace(/#.*/, '')} download={props.file} aria-label={`Download ${props.label}`} title="Download">
          <Icon name="download" />
        </a>
      )}
      {error && <p class="media-error">{error}</p>}
      {marked && pixels && picture && (
        <output class="media-value">
          <span class="muted">
            {marked.x}, {marked.y}
          </span>{' '}
          {pixelText(pixelAt(pixels, Math.min(marked.x, pixels.width - 1), Math.min(marked.y, pixels.height - 1)))}
        </output>
      )}
    </div>
  );
}

function keyZoom(event: KeyboardEvent, zoom: Zoom, size: Size, frame: Size): Zoom | null {
  const middle = [frame.width / 2, frame.height / 2] as const;
  if (event.key === '+' || event.key === '=') return zoomed(zoom, size, frame, ...middle, 1.5);
  if (event.key === '-') return zoomed(zoom, size, frame, ...middle, 1 / 1.5);
  if (event.key === '0') return kFit;
  if (event.key === '1') return kActual;
  if (!event.shiftKey) return null; // bare arrows move the step cursor
  const far = 32;
  if (event.key === 'ArrowLeft') return panned(zoom, size, frame, far, 0);
  if (event.key === 'ArrowRight') return panned(zoom, size, frame, -far, 0);
  if (event.key === 'ArrowUp') return panned(zoom, size, frame, 0, far);
  if (event.key === 'ArrowDown') return panned(zoom, size, frame, 0, -far);
  return null;
}

// The image at an address; the previous one stays until it is loaded.
function usePicture(url: string, onReady: (url: string) => void): { picture: Picture | null; error: string | null } {
  const [state, setState] = useState<{ picture: Picture | null; error: string | null }>({ picture: null, error: null });
  useEffect(() => {
    let current = true;
    pictureOf(url).then(
      (picture) => {
        if (!current) return;
        setState({ picture, error: null });
        onReady(url);
      },
      (error: unknown) => current && setState({ picture: null, error: error instanceof Error ? error.message : String(error) }),
    );
    return () => {
      current = false;
    };
  }, [url]);
  return state;
}

// Decoded only when it is needed.
function usePixels(picture: Picture | null, wanted: boolean): Pixels | null {
  const [state, setState] = useState<{ of: Picture; pixels: Pixels } | null>(null);
  useEffect(() => {
    if (!picture || !wanted) return;
    let current = true;
    void pixelsOf(picture).then((pixels) => current && setState({ of: picture, pixels }));
    return () => {
      current = false;
    };
  }, [picture, wanted]);
  return state && state.of === picture ? state.pixels : null;
}
