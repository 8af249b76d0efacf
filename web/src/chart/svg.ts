// A painter that writes an SVG document.
import type { Painter } from './painter';

const escape = (text: string) =>
  text.replace(/[&<>"]/g, (c) => (c === '&' ? '&amp;' : c === '<' ? '&lt;' : c === '>' ? '&gt;' : '&quot;'));
const at = (n: number) => String(Math.round(n * 100) / 100);

interface Style {
  strokeStyle: string;
  fillStyle: string;
  lineWidth: number;
  lineJoin: CanvasLineJoin;
  globalAlpha: number;
  font: string;
  textAlign: CanvasTextAlign;
  textBaseline: CanvasTextBaseline;
  dash: number[];
  clip: string;
}

const kPlain: Style = {
  strokeStyle: '#000',
  fillStyle: '#000',
  lineWidth: 1,
  lineJoin: 'miter',
  globalAlpha: 1,
  font: '11px sans-serif',
  textAlign: 'left',
  textBaseline: 'alphabetic',
  dash: [],
  clip: '',
};

export class SvgPainter implements Painter {
  private style: Style = { ...kPlain };
  private readonly saved: Style[] = [];
  private path: string[] = [];
  private readonly parts: string[] = [];
  private clips = 0;

  constructor(
    private readonly width: number,
    private readonly height: number,
  ) {}

  document(): string {
    return `<svg xmlns="http://www.w3.org/2000/svg" width="${this.width}" height="${this.height}" viewBox="0 0 ${this.width} ${this.height}">${this.parts.join('')}</svg>`;
  }

  set strokeStyle(value: string | CanvasGradient | CanvasPattern) {
    this.style.strokeStyle = String(value);
  }
  get strokeStyle(): string {
    return this.style.strokeStyle;
  }
  set fillStyle(value: string | CanvasGradient | CanvasPattern) {
    this.style.fillStyle = String(value);
  }
  get fillStyle(): string {
    return this.style.fillStyle;
  }
  set lineWidth(value: number) {
    this.style.lineWidth = value;
  }
  get lineWidth(): number {
    return this.style.lineWidth;
  }
  set lineJoin(value: CanvasLineJoin) {
    this.style.lineJoin = value;
  }
  get lineJoin(): CanvasLineJoin {
    return this.style.lineJoin;
  }
  set globalAlpha(value: number) {
    this.style.globalAlpha = value;
  }
  get globalAlpha(): number {
    return this.style.globalAlpha;
  }
  set font(value: string) {
    this.style.font = value;
  }
  get font(): string {
    return this.style.font;
  }
  set textAlign(value: CanvasTextAlign) {
    this.style.textAlign = value;
  }
  get textAlign(): CanvasTextAlign {
    return this.style.textAlign;
  }
  set textBaseline(value: CanvasTextBaseline) {
    this.style.textBaseline = value;
  }
  get textBaseline(): CanvasTextBaseline {
    return this.style.textBaseline;
  }
  setLineDash(dash: Iterable<number>): void {
    this.style.dash = [...dash];
  }

  save(): void {
    this.saved.push({ ...this.style });
  }
  restore(): void {
    this.style = this.saved.pop() ?? { ...kPlain };
  }
  beginPath(): void {
    this.path = [];
  }
  moveTo(x: number, y: number): void {
    this.path.push(`M${at(x)} ${at(y)}`);
  }
  lineTo(x: number, y: number): void {
    this.path.push(`${this.path.length === 0 ? 'M' : 'L'}${at(x)} ${at(y)}`);
  }
  closePath(): void {
    this.path.push('Z');
  }
  rect(x: number, y: number, w: number, h: number): void {
    this.path.push(`M${at(x)} ${at(y)}h${at(w)}v${at(h)}h${at(-w)}Z`);
  }
  // Charts need only full circles.
  arc(x: number, y: number, r: number): void {
    this.path.push(`M${at(x - r)} ${at(y)}a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 ${-2 * r} 0Z`);
  }
  clip(): void {
    const id = `clip${this.clips++}`;
    this.parts.push(`<clipPath id="${id}"><path d="${this.path.join('')}"/></clipPath>`);
    this.style.clip = id;
  }
  stroke(): void {
    const { strokeStyle, lineWidth, lineJoin, dash } = this.style;
    const dashes = dash.length > 0 ? ` stroke-dasharray="${dash.join(' ')}"` : '';
    this.put(
      `<path fill="none" stroke="${escape(strokeStyle)}" stroke-width="${lineWidth}" stroke-linejoin="${lineJoin}"${dashes} d="${this.path.join('')}"`,
    );
  }
  fill(): void {
    this.put(`<path fill="${escape(this.style.fillStyle)}" d="${this.path.join('')}"`);
  }
  fillRect(x: number, y: number, w: number, h: number): void {
    this.put(
      `<rect fill="${escape(this.style.fillStyle)}" x="${at(x)}" y="${at(y)}" width="${at(w)}" height="${at(h)}"`,
    );
  }
  fillText(text: string, x: number, y: number): void {
    const { font, fillStyle, textAlign, textBaseline } = this.style;
    const size = /(\d+)px\s+(.*)/.exec(font);
    const anchor = textAlign === 'right' ? 'end' : textAlign === 'center' ? 'middle' : 'start';
    const base = textBaseline === 'middle' ? 'central' : textBaseline === 'top' ? 'hanging' : 'auto';
    this.put(
      `<text fill="${escape(fillStyle)}" font-size="${size?.[1] ?? 11}" font-family="${escape(size?.[2] ?? 'sans-serif')}" text-anchor="${anchor}" dominant-baseline="${base}" x="${at(x)}" y="${at(y)}"`,
      `>${escape(text)}</text>`,
    );
  }
  private put(open: string, close = '/>'): void {
    const { globalAlpha, clip } = this.style;
    const alpha = globalAlpha < 1 ? ` opacity="${globalAlpha}"` : '';
    this.parts.push(`${open}${alpha}${clip ? ` clip-path="url(#${clip})"` : ''}${close}`);
  }
}
