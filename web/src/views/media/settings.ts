// Settings of the media view: in the address, so that a link shows the same picture.
import { type Codec, flag, number, oneOf, text, urlSignal } from '../../url';
import { kFit, type Zoom } from './zoom';

export type Kind = 'images' | 'audio' | 'text';
export const kKinds: Kind[] = ['images', 'audio', 'text'];
export const kTitles: Record<Kind, string> = { images: 'Images', audio: 'Audio', text: 'Text' };
export type Shown = 'all' | Kind;
export type TileSize = 'small' | 'medium' | 'large';

const kept = { remember: true };
export const shownKind = urlSignal<Shown>('media', 'all', oneOf<Shown>('all', 'images', 'audio', 'text'));
export const tileSize = urlSignal<TileSize>('tile', 'medium', oneOf<TileSize>('small', 'medium', 'large'), kept);
export const brightness = urlSignal('bright', 1, number);
export const contrast = urlSignal('contrast', 1, number);
export const linkZoom = urlSignal('link', true, flag, kept);

const zoomCodec: Codec<Zoom> = {
  write: ({ x, y, scale }) => [x, y, scale].map((v) => Number(v.toPrecision(6))).join(','),
  read: (text) => {
    const [x, y, scale] = text.split(',').map(Number);
    const sound = [x, y, scale].every((v) => v !== undefined && Number.isFinite(v) && v >= 0);
    return sound ? { x: Math.min(1, x!), y: Math.min(1, y!), scale: Math.min(4096, scale!) } : undefined;
  },
};
export const sharedZoom = urlSignal<Zoom>('zoom', kFit, zoomCodec);
// Of the images that share it, as "28x28": the same part of images of different sizes would be something else.
export const sharedSize = urlSignal('zoomof', '', text);

export const kTile: Record<TileSize, number> = { small: 120, medium: 208, large: 360 }; // CSS pixels
