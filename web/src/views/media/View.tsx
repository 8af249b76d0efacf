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

interface Cards {
  kind: Kind;
  cards: MediaCard[];
}

// Those that are pinned, in the order in which they were; a filter of tags does not take them away.
function pinnedCards(): Cards[] {
  const order = new Map(pins.value.map((id, i) => [id, i]));
  const placeOf = (card: MediaCard) => order.get(cardId(card)) ?? -1;
  return kKinds
    .map((kind) => ({ kind, cards: cardsOf(tags.value, kind, visibleSet.value).filter((card) => placeOf(card) >= 0) }))
    .map(({ kind, cards }) => ({ kind, cards: cards.sort((a, b) => placeOf(a) - placeOf(b)) }))
    .filter(({ cards }) => cards.length > 0);
}

export default function MediaView() {
  const pinned = useComputed(pinnedCards);
  const sections = useComputed(() =>
    kKinds
      .filter((kind) => shownKind.value === 'all' || shownKind.value === kind)
      .map((kind) => ({ kind, cards: cardsOf(filteredTags.value, kind, visibleSet.value) }))
      .map(({ kind, cards }) => ({ kind, cards: cards.filter((card) => !pins.value.includes(cardId(card))) }))
      .filter((section) => section.cards.length > 0),
  );
  if (!loaded.value) return <Loading what="Reading the log" />;
  const all = [...pinned.value, ...sections.value];
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
      {pinned.value.length > 0 && <Section title="Pinned" all={pinned.value} />}
      {sections.value.map((section) => (
        <Section key={section.kind} title={kTitles[section.kind]} all={[section]} />
      ))}
    </div>
  );
}

function sizeOf(card: MediaCard): { height: number; width?: number } {
  if (card.kind === 'images') return imageCardSize(card);
  return { height: card.kind === 'audio' ? 70 + 150 * card.runs.length : 300 };
}

function Section({ title, all }: { title: string; all: readonly Cards[] }) {
  return (
    <section aria-label={title} class="media-section">
      <h2>
        {title} <span class="muted">{integer(all.reduce((sum, { cards }) => sum + cards.length, 0))}</span>
      </h2>
      {all.map(({ kind, cards }) => {
        const One = kCards[kind];
        return (
          <div key={kind} class={`media-grid media-grid-${kind}`}>
            {cards.map((card) => (
              <LazyCard key={card.tag} id={cardId(card)} tag={card.tag} {...sizeOf(card)}>
                <One card={card} />
              </LazyCard>
            ))}
          </div>
        );
      })}
    </section>
  );
}
