// A sound: its waveform, drawn from the samples of the file, and a player of the same file.
import { useEffect, useRef, useState } from 'preact/hooks';

import { duration, integer } from '../../ui/format';
import { bytesOf } from './store';
import { decodeWav, type Sound } from './wav';
import { Waveform } from './Waveform';

export interface ClipProps {
  url: string;
  label: string;
  file: string; // name of a download
  html: string; // its label, sanitised by the server
  onReady: () => void;
}

interface Loaded {
  address: string; // of the bytes, in which a player can seek even without range requests
  sound: Sound | null;
  error: string | null;
}

export function Clip({ url, label, file, html, onReady }: ClipProps) {
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
          {sound.format} ·{' '}
          <a href={url.replace(/#.*/, '')} download={file} aria-label={`Download ${label}`}>
            download
          </a>
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
