// The images of one run at one step: all its samples.
import { useEffect, useState } from 'preact/hooks';

import * as api from '../../api';
import type { Media } from '../../api_types';
import { fileName } from '../../ui/FileLinks';
import { integer } from '../../ui/format';
import { useAsked } from '../../ui/hooks';
import type { MediaCard } from './cards';
import { ImageTile, type Spot } from './ImageTile';
import { RunCaption } from './RunCaption';
import { neighbours } from '../../ui/steps';
import { preload } from './store';
import { type RunSteps, versionOf } from './useSteps';
import type { Size, Zoom } from './zoom';

const kMostSamples = 12; // of one step, until the user asks for more

export interface RunImagesProps {
  card: MediaCard;
  of: RunSteps;
  width: number;
  tall: number; // at most
  zoomOf: (image: Size) => Zoom;
  onZoom: (zoom: Zoom, image: Size) => void;
  spot: Spot | null;
  onSpot: (spot: Spot | null) => void;
  wheelAlways: boolean;
  onReady: () => void;
}

export function RunImages(props: RunImagesProps) {
  const { card, of, width } = props;
  const [everything, setEverything] = useState(false);
  const step = of.shown?.step ?? null;
  const key = { run: of.run, tag: card.tag, kind: card.kind };
  const about = useAsked<Media>(step === null ? null : JSON.stringify([key, step]), (signal) => api.media({ ...key, step: step! }, signal));
  const image = (at: number, index: number): string =>
    api.imageUrl({ run: of.run, tag: card.tag, step: of.steps[at]!, index }) + versionOf(of, at);
  const count = about.value?.count ?? 1;
  const shown = everything ? count : Math.min(count, kMostSamples);
  useEffect(() => {
    if (!of.shown || !about.value) return;
    preload(neighbours(of.steps.length, of.shown.index).flatMap((i) => Array.from({ length: Math.min(shown, 4) }, (_, n) => image(i, n))));
  }, [step, of.steps.length, about.value]);
  if (step === null || !of.shown) return null;
  const at = of.shown.index;
  const frame = frameOf(about.value, width, props.tall);
  return (
    <figure class="media-figure">
      <RunCaption of={of} />
      {about.error && <p class="media-error">{about.error}</p>}
      <div class="media-samples">
        {Array.from({ length: shown }, (_, index) => (
          <ImageTile
            key={index}
            url={image(at, index)}
            label={`${card.tag} of ${of.run} at step ${integer(step)}${count > 1 ? `, sample ${index + 1} of ${count}` : ''}`}
            frame={frame}
            zoomOf={props.zoomOf}
            file={fileName(of.run, card.tag, step, ...(count > 1 ? [index] : []))}
            onZoom={props.onZoom}
            spot={props.spot}
            onSpot={props.onSpot}
            wheelAlways={props.wheelAlways}
            onReady={props.onReady}
          />
        ))}
      </div>
      {count > shown && (
        <button type="button" class="text-button" onClick={() => setEverything(true)}>
          Show all {integer(count)} samples
        </button>
      )}
    </figure>
  );
}

// As wide as requested and as tall as the image needs: a square until its size is known.
function frameOf(about: Media | undefined, width: number, tall: number): Size {
  const ratio = about?.width && about.height ? about.height / about.width : 1;
  const height = Math.min(Math.max(48, Math.round(width * ratio)), Math.max(80, Math.round(tall)));
  return { width, height };
}
