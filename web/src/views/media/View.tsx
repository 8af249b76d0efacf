import { useComputed } from '@preact/signals';
import './style.css';

import { filteredTags, loaded, tagFilter, tags, visibleSet } from '../../state';
import { Choice } from '../../ui/Choice';
import { integer, value } from '../../ui/format';
import { IconButton } from '../../ui/IconButton';
import { Slider } from '../../ui/Slider';
import { Copy, Empty, Loading } from '../../ui/states';
import { LazyCard } from '../distributions/LazyCard';
import { AudioCard } from './AudioCard';
import { cardId, cardsOf, type MediaCard } from './cards';
import { ImageCard, imageCardSize } from './ImageCard';
import { brightness, contrast, type Kind, linkZoom, sharedZoom, shownKind, tileSize } from './settings';
import { TextCard } from './TextCard';
import { kActual, kFit } from './zoom';

const kKinds: Kind[] = ['images', 'audio', 'text'];
const kTitles: Record<Kind, string> = { images: 'Images', audio: 'Audio', text: 'Text' };
const kCards = { images: ImageCard, audio: AudioCard, text: TextCard };

export default function MediaView() {
  const sections = useComputed(() =>
    kKinds
      .filter((kind) => shownKind.value === 'all' || shownKind.value === kind)
      .map((kind) => ({ kind, cards: cardsOf(filteredTags.value, kind, visibleSet.value) }))
      .filter((section) => section.cards.length > 0),
  );
  if (!loaded.value) return <Loading what="Reading the log" />;
  return (
    <div class="media-view">
      <Toolbar images={sections.value.some((section) => section.kind === 'images')} />
      {sections.value.length === 0 && <Nothing />}
      {sections.value.map(({ kind, cards }) => (
        <Section key={kind} kind={kind} cards={cards} />
      ))}
    </div>
  );
}

function sizeOf(card: MediaCard): { height: number; width?: number } {
  if (card.kind === 'images') return imageCardSize(card);
  return { height: card.kind === 'audio' ? 70 + 150 * card.runs.length : 300 };
}

function Section({ kind, cards }: { kind: Kind; cards: MediaCard[] }) {
  const One = kCards[kind];
  return (
    <section aria-label={kTitles[kind]} class="media-section">
      <h2>
        {kTitles[kind]} <span class="muted">{integer(cards.length)}</span>
      </h2>
      <div class={`media-grid media-grid-${kind}`}>
        {cards.map((card) => (
          <LazyCard key={card.tag} id={cardId(card)} tag={card.tag} {...sizeOf(card)}>
            <One card={card} />
          </LazyCard>
        ))}
      </div>
    </section>
  );
}

function Toolbar({ images }: { images: boolean }) {
  const percent = (x: number): string => `${value(x * 100, 3)} %`;
  const changed = brightness.value !== 1 || contrast.value !== 1 || sharedZoom.value.scale !== 1;
  return (
    <div class="media-toolbar" role="toolbar" aria-label="How media are shown">
      <Choice
        label="Kind"
        value={shownKind.value}
        onChange={(kind) => (shownKind.value = kind)}
        options={[{ value: 'all', label: 'All' }, ...kKinds.map((kind) => ({ value: kind, label: kTitles[kind] }))]}
      />
      {images && (
        <>
          <Choice
            label="Size of the images"
            value={tileSize.value}
            onChange={(size) => (tileSize.value = size)}
            options={[
              { value: 'small', label: 'S', title: 'Small images' },
              { value: 'medium', label: 'M', title: 'Medium images' },
              { value: 'large', label: 'L', title: 'Large images' },
            ]}
          />
          <div class="choice" role="group" aria-label="Zoom of all images">
            <button type="button" aria-pressed={sharedZoom.value.scale === 1} onClick={() => (sharedZoom.value = kFit)}>
              Fit
            </button>
            <button type="button" aria-pressed={sharedZoom.value.scale === 0} onClick={() => (sharedZoom.value = kActual)} title="Actual size: one pixel of the image a pixel" aria-label="Actual size">
              1:1
            </button>
          </div>
          <label class="media-check" title="One zoom for all images">
            <input type="checkbox" checked={linkZoom.value} onChange={(event) => (linkZoom.value = event.currentTarget.checked)} />
            Link zoom
          </label>
          <Slider label="Brightness" min={0} max={3} step={0.05} value={brightness.value} format={percent} onInput={(x) => (brightness.value = x)} />
          <Slider label="Contrast" min={0} max={5} step={0.05} value={contrast.value} format={percent} onInput={(x) => (contrast.value = x)} />
          <IconButton
            icon="reset"
            label="Reset brightness, contrast and zoom"
            disabled={!changed}
            onClick={() => {
              brightness.value = 1;
              contrast.value = 1;
              sharedZoom.value = kFit;
            }}
          />
        </>
      )}
    </div>
  );
}

function Nothing() {
  const any = tags.value.some((tag) => (kKinds as string[]).includes(tag.kind));
  if (any) {
    return (
      <Empty title="Nothing to show here">
        <p>
          {tagFilter.value
            ? 'No image, sound or text of a visible run matches the tag filter: change it, or show more runs.'
            : 'The visible runs have nothing of this kind: choose All above, or show more runs on the left.'}
        </p>
      </Empty>
    );
  }
  return (
    <Empty title="No images, sounds or text in this log yet">
      <p>They appear here as soon as one is recorded:</p>
      <Copy text={'rec.image("conv_1/out", sonde::view(activations, {1, 24, 24, 32}), step, sonde::Layout::NHWC);'} />
      <p>or, with TensorBoard's writers:</p>
      <Copy text={'writer.add_image("sample", image, step)'} />
    </Empty>
  );
}
