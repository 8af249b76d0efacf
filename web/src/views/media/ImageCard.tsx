// All images of one tag at the step of the cursor, side by side over runs and samples, with one zoom for all.
import { useEffect, useRef, useState } from 'preact/hooks';

import * as api from '../../api';
import type { Media } from '../../api_types';
import { Card } from '../../ui/Card';
import { fullCard } from '../../ui/cards';
import { integer, plural } from '../../ui/format';
import { useAsked, useSize } from '../../ui/hooks';
import { Failure } from '../../ui/states';
import { cardId, type MediaCard, subtitle } from './cards';
import { ImageTile, type Spot } from './ImageTile';
import { RunCaption } from './RunCaption';
import { kTile, linkZoom, sharedZoom, tileSize } from './settings';
import { preload } from './store';
import { neighbours } from './steps';
import { StepNav } from './StepNav';
import { kMostRuns, type RunSteps, useSteps, versionOf } from './useSteps';
import { kFit, type Size, type Zoom } from './zoom';

const kMostSamples = 12; // of one step, until more are asked for

export function ImageCard({ card }: { card: MediaCard }) {
  const body = useRef<HTMLDivElement>(null);
  const full = fullCard.value === cardId(card);
  const size = useSize(body);
  const { asked, runs, all, recorded } = useSteps(card);
  const [ready, setReady] = useState<ReadonlySet<string>>(new Set());
  const [own, setOwn] = useState<Zoom>(kFit);
  const [spot, setSpot] = useState<Spot | null>(null);
  const zoom = linkZoom.value ? sharedZoom.value : own;
  const setZoom = (next: Zoom): void => (linkZoom.value ? void (sharedZoom.value = next) : setOwn(next));
  const width = tileWidth(card.runs.length, size, full);
  const drawn = runs.length > 0 && runs.every((one) => one.shown && ready.has(one.run));
  const state: Record<string, string> = { chart: card.tag };
  if (drawn) Object.assign(state, { ready: '', points: String(recorded) });
  return (
    <Card
      id={cardId(card)}
      title={card.tag}
      subtitle={subtitle(card)}
      mayPin={false}
      class="media-card"
      data={state}
    >
      <StepNav label={card.tag} steps={all} />
      <div class="media-body" ref={body}>
        {asked.error && <Failure text={asked.error} />}
        {!asked.value && !asked.error && card.runs.slice(0, kMostRuns).map((one) => <Room key={one.run} width={width} />)}
        {runs.map((one) => (
          <RunImages
            key={one.run}
            card={card}
            of={one}
            width={width}
            tall={full ? size.height - 40 : width * 1.5}
            zoom={zoom}
            onZoom={setZoom}
            spot={spot}
            onSpot={setSpot}
            wheelAlways={full}
            onReady={() => setReady((old) => (old.has(one.run) ? old : new Set(old).add(one.run)))}
          />
        ))}
        {card.runs.length > runs.length && runs.length > 0 && (
          <p class="muted">{plural(card.runs.length - runs.length, 'more run')}: choose on the left which are shown.</p>
        )}
      </div>
    </Card>
  );
}

// Where an image will be: nothing moves when it comes.
function Room({ width }: { width: number }) {
  return (
    <div class="media-figure" aria-hidden="true">
      <div class="media-caption">&nbsp;</div>
      <div class="media-tile" style={{ width: `${width}px`, height: `${width}px` }} />
    </div>
  );
}

// What a card will be about as large as, CSS pixels.
export function imageCardSize(card: MediaCard): Size {
  const tile = tileWidth(card.runs.length, { width: 0, height: 0 }, false);
  return { width: Math.min(card.runs.length, kMostRuns) * (tile + 12) + 14, height: tile + 114 };
}

function tileWidth(runs: number, body: Size, full: boolean): number {
  if (!full) return Math.min(kTile[tileSize.value], window.innerWidth - 48); // a phone
  return Math.max(120, Math.floor(body.width / Math.min(Math.max(1, runs), 4)) - 12);
}

interface RunImagesProps {
  card: MediaCard;
  of: RunSteps;
  width: number;
  tall: number; // at most
  zoom: Zoom;
  onZoom: (zoom: Zoom) => void;
  spot: Spot | null;
  onSpot: (spot: Spot | null) => void;
  wheelAlways: boolean;
  onReady: () => void;
}

function RunImages(props: RunImagesProps) {
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
            zoom={props.zoom}
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

// As wide as asked for and as tall as the image needs: a square until its size is known.
function frameOf(about: Media | undefined, width: number, tall: number): Size {
  const ratio = about?.width && about.height ? about.height / about.width : 1;
  const height = Math.min(Math.max(48, Math.round(width * ratio)), Math.max(80, Math.round(tall)));
  return { width, height };
}
