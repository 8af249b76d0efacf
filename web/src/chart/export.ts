// A chart as a file.
import { dark } from '../state';
import { draw, frameOf } from './draw';
import { type Ink, inkOf, kFont } from './painter';
import type { Painter } from './painter';
import type { Scene } from './scene';
import { SvgPainter } from './svg';

export interface Picture {
  scene: Scene;
  width: number;
  height: number;
  title: string;
}

const kHead = 28;
const kLegendRow = 16;
const kMostNamed = 12;

// The chart with its title above and the names of its lines below: a complete picture.
function paint(p: Painter, picture: Picture, ink: Ink): void {
  const { scene, width, height, title } = picture;
  const total = heightOf(picture);
  p.fillStyle = ink.card;
  p.fillRect(0, 0, width, total);
  p.fillStyle = ink.text;
  p.font = `600 ${kFont}`.replace('11px', '13px');
  p.textAlign = 'left';
  p.textBaseline = 'middle';
  p.fillText(title, 12, kHead / 2);
  const frame = frameOf(scene, width, height);
  const y = { ...frame.y, from: frame.y.from + kHead, to: frame.y.to + kHead };
  draw(p, scene, { ...frame, top: frame.top + kHead, bottom: frame.bottom + kHead, y }, ink);
  names(scene).forEach(({ label, color }, i) => {
    const y = kHead + height + kLegendRow * (i + 0.5);
    p.fillStyle = color;
    p.fillRect(12, y - 4, 8, 8);
    p.fillStyle = ink.text;
    p.font = kFont;
    p.textAlign = 'left';
    p.textBaseline = 'middle';
    p.fillText(label, 26, y);
  });
}

const names = (scene: Scene) =>
  [...scene.lines.filter((line) => line.x.length > 0), ...scene.bands].slice(0, kMostNamed);
const heightOf = ({ scene, height }: Picture) => kHead + height + kLegendRow * names(scene).length + 8;

export function save(blob: Blob, name: string): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

export const fileName = (title: string, ending: string) => `${title.replace(/[^\w.-]+/g, '_') || 'chart'}.${ending}`;

export function svgOf(picture: Picture): string {
  const painter = new SvgPainter(picture.width, heightOf(picture));
  paint(painter, picture, inkOf(dark.value ? 'dark' : 'light'));
  return painter.document();
}

export function saveSvg(picture: Picture): void {
  save(new Blob([svgOf(picture)], { type: 'image/svg+xml' }), fileName(picture.title, 'svg'));
}

export function savePng(picture: Picture): void {
  const scale = 2; // sharp in a document
  const canvas = document.createElement('canvas');
  canvas.width = picture.width * scale;
  canvas.height = heightOf(picture) * scale;
  const context = canvas.getContext('2d');
  if (!context) return;
  context.scale(scale, scale);
  paint(context, picture, inkOf(dark.value ? 'dark' : 'light'));
  canvas.toBlob((blob) => blob && save(blob, fileName(picture.title, 'png')));
}
