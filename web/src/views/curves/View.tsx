import { useComputed } from '@preact/signals';
import './style.css';

import { NothingHere } from '../../shell/NothingHere';
import { filteredTags, visibleSet } from '../../state';
import { Choice } from '../../ui/Choice';
import { LazyCard } from '../../ui/LazyCard';
import { CurveCard } from './CurveCard';
import { cardId, cardsOf } from './model';
import { extent } from './settings';

export default function CurvesView() {
  const cards = useComputed(() => cardsOf(filteredTags.value, visibleSet.value));
  if (cards.value.length === 0)
    return (
      <NothingHere
        kinds={['pr_curves']}
        title="Nothing to show here"
        filtered="No curve of a visible run matches the tag filter: change it, or show more runs."
        hidden="The visible runs have no curves: show more runs on the left."
        none="No precision-recall curves in this log yet"
        cpp={'rec.pr_curve("test", sonde::view(labels), sonde::view(predictions), step);'}
        python={'writer.add_pr_curve("test", labels, predictions, step)'}
      />
    );
  return (
    <div class="curves-view">
      <div class="curves-toolbar" role="toolbar" aria-label="How curves are shown">
        <Choice
          label="Axes"
          value={extent.value}
          onChange={(next) => (extent.value = next)}
          options={[
            { value: 'whole', label: '0 to 1', title: 'The full range of precision and recall' },
            { value: 'fitted', label: 'Fit', title: 'Only where the curves are' },
          ]}
        />
      </div>
      <div class="curves-grid">
        {cards.value.map((card) => (
          <LazyCard key={card.tag} id={cardId(card)} tag={card.tag} height={420}>
            <CurveCard card={card} />
          </LazyCard>
        ))}
      </div>
    </div>
  );
}
