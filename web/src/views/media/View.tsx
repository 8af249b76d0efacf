import { useComputed } from '@preact/signals';
import './style.css';

import { NothingHere } from '../../shell/NothingHere';
import { filteredTags, loaded, tags, visibleSet } from '../../state';
import { pins } from '../../ui/cards';
import { integer } from '../../ui/format';
import { Loading } from '../../ui/states';
import { LazyCard } from '../../ui/LazyCard';
import { AudioCard } from './AudioCard';
import { cardId, cardsOf, type MediaCard } from './cards';
import { ImageCard, imageCardSize } from './ImageCard';
import { type Kind, kKinds, kTitles, shownKind } from './settings';
import { TextCard } from './TextCard';
import { Toolbar } from './Toolbar';

const kCards = { images: ImageCard, audio: AudioCard, text: TextCard };

// The pinned cards, in the order in which they were pinned; the tag filter does not hide them.
function pinnedCards(): MediaCard[] {
  const all = kKinds.flatMap((kind) => cardsOf(tags.value, kind, visibleSet.value));
  const byId = new Map(all.map((card) => [cardId(card), card]));
  return pins.value.flatMap((id) => byId.get(id) ?? []);
}

export default function MediaView() {
  const pinned = useComputed(pinnedCards);
  const sections = useComputed(() =>
    kKinds
      .filter((kind) => shownKind.value === 'all' || shownKind.value === kind)
      .map((kind) => ({ kind, cards: cardsOf(filteredTags.value, kind, visibleSet.value) }))
      .map(({ kind, cards }) => ({ kind, cards: cards.filter((card) => !pins.value.includes(cardId(card))) }))
      .filter(({ cards }) => cards.length > 0),
  );
  if (!loaded.value) return <Loading what="Reading the log" />;
  const all = [...pinned.value, ...sections.value.flatMap(({ cards }) => cards)];
  return (
    <div class="media-view">
      <Toolbar images={all.some(({ kind }) => kind === 'images')} />
      {all.length === 0 && (
        <NothingHere
          kinds={kKinds}
          title="Nothing to show here"
          filtered="No image, sound or text of a visible run matches the tag filter: change it, or show more runs."
          hidden="The visible runs have nothing of this kind: choose All above, or show more runs on the left."
          none="No images, sounds or text in this log yet"
          cpp={'rec.image("conv_1/out", sonde::view(activations, {1, 24, 24, 32}), step, sonde::Layout::NHWC);'}
          python={'writer.add_image("sample", image, step)'}
        />
      )}
      {pinned.value.length > 0 && <Section title="Pinned" grid="pinned" cards={pinned.value} />}
      {sections.value.map(({ kind, cards }) => (
        <Section key={kind} title={kTitles[kind]} grid={kind} cards={cards} />
      ))}
    </div>
  );
}

function sizeOf(card: MediaCard): { height: number; width?: number } {
  if (card.kind === 'images') return imageCardSize(card);
  return { height: card.kind === 'audio' ? 70 + 150 * card.runs.length : 300 };
}

function Section({ title, grid, cards }: { title: string; grid: Kind | 'pinned'; cards: readonly MediaCard[] }) {
  return (
    <section aria-label={title} class="media-section">
      <h2>
        {title} <span class="muted">{integer(cards.length)}</span>
      </h2>
      <div class={`media-grid media-grid-${grid}`}>
        {cards.map((card) => {
          const One = kCards[card.kind];
          return (
            <LazyCard key={cardId(card)} id={cardId(card)} tag={card.tag} class={`media-of-${card.kind}`} {...sizeOf(card)}>
              <One card={card} />
            </LazyCard>
          );
        })}
      </div>
    </section>
  );
}
