// A sound: its waveform, drawn from the samples of the file, and a player of that very file.
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';

import { dark } from '../../state';
import { duration, integer } from '../../ui/format';
import { useSize } from '../../ui/hooks';
import { bytesOf } from './store';
import { decodeWav, peaks, type Peaks, type Sound } from './wav';

export interface ClipProps {
  url: string;
  label: string;
  html: string; // what was said about it, made safe by the server
  onReady: () => void;
}

interface Loaded {
  address: string; // of the bytes: a player can seek in them, whatever the server does
  sound: Sound | null;
  error: string | null;
}

export function Clip({ url, label, html, onReady }: ClipProps) {
  const loaded = useClip(url, onReady);
  const player = useRef<HTMLAudioElement>(null);
  const [at, setAt] = useState(0); // seconds
  const sound = loaded?.sound ?? null;
  const seconds = sound ? (sound.channels[0]?.length ?? 0) / sound.rate : 0;
  useEffect(() => setAt(0), [url]);
  return (
    <div class="media-clip">
      {sound && (
        <Waveform
          sound={sound}
          at={at}
          label={label}
          onSeek={(time) => {
            if (player.current) player.current.currentTime = time;
            setAt(time);
          }}
        />
      )}
      {loaded?.error && <p class="media-error">{loaded.error}</p>}
      {!loaded && <div class="media-wave" />}
      {loaded?.address && (
        <audio
          ref={player}
          controls
          preload="metadata"
          src={loaded.address}
          aria-label={label}
          onTimeUpdate={(event) => setAt(event.currentTarget.currentTime)}
          onSeeked={(event) => setAt(event.currentTarget.currentTime)}
        />
      )}
      {sound && (
        <div class="media-about muted">
          {duration(seconds)} · {integer(sound.rate)} Hz · {sound.channels.length === 1 ? 'mono' : sound.channels.length === 2 ? 'stereo' : `${sound.channels.length} channels`} ·{' '}
          {sound.format}
        </div>
      )}
      {html && <div class="media-text" dangerouslySetInnerHTML={{ __html: html }} />}
    </div>
  );
}

function useClip(url: string, onReady: () => void): Loaded | null {
  const [state, setState] = useState<Loaded | null>(null);
  useEffect(() => {
    let address = '';
    let current = true;
    bytesOf(url).then(
      (bytes) => {
        if (!current) return;
        address = URL.createObjectURL(new Blob([bytes], { type: 'audio/wav' }));
        setState({ address, ...decode(bytes) });
        onReady();
      },
      (error: unknown) => current && setState({ address: '', sound: null, error: error instanceof Error ? error.message : String(error) }),
    );
    return () => {
      current = false;
      if (address) URL.revokeObjectURL(address);
    };
  }, [url]);
  return state;
}

function decode(bytes: ArrayBuffer): { sound: Sound | null; error: string | null } {
  try {
    return { sound: decodeWav(bytes), error: null };
  } catch (error) {
    return { sound: null, error: error instanceof Error ? error.message : String(error) };
  }
}

interface WaveformProps {
  sound: Sound;
  at: number; // seconds
  label: string;
  onSeek: (seconds: number) => void;
}

const kChannelHeight = 56; // CSS pixels

interface Look {
  width: number;
  played: number; // CSS pixels
  colour: (name: string) => string;
}

// Extremes of each pixel column; where there are hardly more samples than columns, a line through them.
function drawChannel(context: CanvasRenderingContext2D, channel: Float32Array, extremes: Peaks, middle: number, look: Look): void {
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

function Waveform({ sound, at, label, onSeek }: WaveformProps) {
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
    const context = element?.getContext('2d');
    if (!element || !context || width === 0) return;
    const density = Math.min(3, window.devicePixelRatio || 1);
    element.width = Math.round(width * density);
    element.height = Math.round(height * density);
    context.setTransform(density, 0, 0, density, 0, 0);
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
    event.stopPropagation(); // the arrows move the step cursor elsewhere
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
