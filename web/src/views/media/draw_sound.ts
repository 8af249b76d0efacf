// Draws one channel of a sound.
import type { Peaks } from './wav';

export const kChannelHeight = 56; // CSS pixels

export interface Look {
  width: number;
  played: number; // CSS pixels
  colour: (name: string) => string;
}

// The extremes of each pixel column; with hardly more samples than columns, a line through them.
export function drawChannel(context: CanvasRenderingContext2D, channel: Float32Array, extremes: Peaks, middle: number, look: Look): void {
  const tall = kChannelHeight / 2 - 3;
  const place = (v: number): number => middle - Math.max(-1, Math.min(1, Number.isFinite(v) ? v : 0)) * tall;
  context.fillStyle = look.colour('--line');
  context.fillRect(0, middle - 0.5, look.width, 1);
  const ink = (x: number): string => look.colour(x < look.played ? '--accent' : '--muted');
  if (channel.length <= 2 * extremes.low.length) {
    const at = (i: number): number => ((i + 0.5) / channel.length) * look.width;
    context.lineWidth = 1.25;
    for (let i = 0; i + 1 < channel.length; ++i) {
      context.strokeStyle = ink(at(i));
      context.beginPath();
      context.moveTo(at(i), place(channel[i]!));
      context.lineTo(at(i + 1), place(channel[i + 1]!));
      context.stroke();
    }
    return;
  }
  for (let i = 0; i < extremes.low.length; ++i) {
    const top = place(extremes.high[i]!);
    context.fillStyle = ink(i);
    context.fillRect(i, top - 0.5, 1, Math.max(1, place(extremes.low[i]!) - top + 1));
  }
}
