import { useComputed } from '@preact/signals';
import './style.css';

import { filteredTags, loaded, visibleSet } from '../../state';
import { integer } from '../../ui/format';
import { Loading } from '../../ui/states';
import { LazyCard } from '../../ui/LazyCard';
import { AudioCard } from './AudioCard';
import { cardId, cardsOf, type MediaCard } from './cards';
import { ImageCard, imageCardSize } from './ImageCard';
import { Nothing } from './Nothing';
import { type Kind, kKinds, kTitles, shownKind } from './settings';
import { TextCard } from './TextCard';
import { Toolbar } from './Toolbar';

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
