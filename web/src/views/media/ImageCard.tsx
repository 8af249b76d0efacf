// All images of one tag at the step of the cursor, side by side over runs and samples, with one zoom for all of one size.
import { useRef, useState } from 'preact/hooks';

import { fullCard } from '../../ui/cards';
import { plural } from '../../ui/format';
import { useSize } from '../../ui/hooks';
import { cardId, type MediaCard } from './cards';
import type { Spot } from './ImageTile';
import { MediaFrame } from './MediaFrame';
import { RunImages } from './RunImages';
import { kTile, linkZoom, sharedSize, sharedZoom, tileSize } from './settings';
import { kMostRuns, useSteps } from './useSteps';
import { kFit, type Size, type Zoom } from './zoom';

export function ImageCard({ card }: { card: MediaCard }) {
  const body = useRef<HTMLDivElement>(null);
  const full = fullCard.value === cardId(card);
  const size = useSize(body);
  const steps = useSteps(card);
  const [own, setOwn] = useState<Zoom>(kFit);
  const [spot, setSpot] = useState<Spot | null>(null);
  const zoomOf = (image: Size): Zoom => {
    if (!linkZoom.value) return own;
    return sharedSize.value === '' || sharedSize.value === sizeText(image) ? sharedZoom.value : kFit;
  };
  const setZoom = (next: Zoom, image: Size): void => {
    if (!linkZoom.value) return setOwn(next);
    sharedZoom.value = next;
    sharedSize.value = next.scale === kFit.scale ? '' : sizeText(image);
  };
  const width = tileWidth(card.runs.length, size, full);
  const more = steps.runs.length > 0 ? card.runs.length - steps.runs.length : 0;
  return (
    <MediaFrame
      card={card}
      steps={steps}
      bodyRef={body}
      waiting={card.runs.slice(0, kMostRuns).map((one) => (
        <Room key={one.run} width={width} />
      ))}
      run={(of, onReady) => (
        <RunImages
          key={of.run}
          card={card}
          of={of}
          width={width}
          tall={full ? size.height - 40 : width * 1.5}
          zoomOf={zoomOf}
          onZoom={setZoom}
          spot={spot}
          onSpot={setSpot}
          wheelAlways={full}
          onReady={onReady}
        />
      )}
      after={more > 0 && <p class="muted">{plural(more, 'more run')}: choose on the left which are shown.</p>}
    />
  );
}

// A placeholder for an image, so that nothing moves when it loads.
function Room({ width }: { width: number }) {
  return (
    <div class="media-figure" aria-hidden="true">
      <div class="media-caption">&nbsp;</div>
      <div class="media-tile" style={{ width: `${width}px`, height: `${width}px` }} />
    </div>
  );
}

const sizeText = ({ width, height }: Size): string => `${width}x${height}`;

const kPhone = 480; // CSS pixels

// The approximate size of a card, in CSS pixels.
export function imageCardSize(card: MediaCard): Size {
  const tile = tileWidth(card.runs.length, { width: 0, height: 0 }, false);
  return { width: Math.min(card.runs.length, kMostRuns) * (tile + 12) + 14, height: tile + 114 };
}

function tileWidth(runs: number, body: Size, full: boolean): number {
  // On a phone an image uses the full width, unless it should be small.
  const room = window.innerWidth - 42;
  if (!full) return tileSize.value !== 'small' && room < kPhone ? room : Math.min(kTile[tileSize.value], room);
  return Math.max(120, Math.floor(body.width / Math.min(Math.max(1, runs), 4)) - 12);
}
