// The samples of a sound over time. A click, a drag or the arrow keys seek in it.
import { useLayoutEffect, useMemo, useRef } from 'preact/hooks';

import { dark } from '../../state';
import { cleared } from '../../ui/canvas';
import { duration, integer } from '../../ui/format';
import { useSize } from '../../ui/hooks';
import { drawChannel, kChannelHeight } from './draw_sound';
import { peaks, type Sound } from './wav';

export interface WaveformProps {
  sound: Sound;
  at: number; // seconds
  label: string;
  onSeek: (seconds: number) => void;
}

export function Waveform({ sound, at, label, onSeek }: WaveformProps) {
  const root = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const { width } = useSize(root);
  const height = kChannelHeight * Math.min(sound.channels.length, 4);
  const seconds = (sound.channels[0]?.length ?? 0) / sound.rate;
  const columns = Math.max(1, Math.floor(width));
  const drawn = useMemo(() => sound.channels.slice(0, 4).map((channel) => peaks(channel, columns)), [sound, columns]);
  const bad = drawn.reduce((sum, one) => sum + one.notFinite, 0);
  useLayoutEffect(() => {
    const element = canvas.current;
    const context = cleared(element, width, height);
    if (!element || !context) return;
    const style = getComputedStyle(element);
    const colour = (name: string): string => style.getPropertyValue(name).trim();
    const played = seconds > 0 ? (at / seconds) * columns : 0;
    drawn.forEach((one, c) => {
      drawChannel(context, sound.channels[c]!, one, kChannelHeight * (c + 0.5), { width, played, colour });
    });
    context.fillStyle = colour('--text');
    context.fillRect(Math.min(width - 1, played), 0, 1, height);
  }, [drawn, width, height, at, dark.value]);
  const seek = (time: number): void => onSeek(Math.min(seconds, Math.max(0, time)));
  const onKey = (event: KeyboardEvent): void => {
    const by = event.key === 'ArrowLeft' ? -0.05 : event.key === 'ArrowRight' ? 0.05 : 0;
    if (by === 0) return;
    event.preventDefault();
    event.stopPropagation(); // elsewhere the arrows move the step cursor
    seek(at + by * seconds);
  };
  return (
    <div ref={root} class="media-wave">
      <canvas
        ref={canvas}
        style={{ width: '100%', height: `${height}px` }}
        role="slider"
        tabIndex={0}
        aria-label={`Place in ${label}`}
        aria-valuemin={0}
        aria-valuemax={seconds}
        aria-valuenow={at}
        aria-valuetext={`${duration(at)} of ${duration(seconds)}`}
        onPointerDown={(event) => width > 0 && seek((event.offsetX / width) * seconds)}
        onPointerMove={(event) => event.buttons === 1 && width > 0 && seek((event.offsetX / width) * seconds)}
        onKeyDown={onKey}
      />
      {bad > 0 && <div class="bad">{integer(bad)} samples are not finite</div>}
    </div>
  );
}
