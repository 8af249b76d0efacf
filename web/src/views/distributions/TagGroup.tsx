// The cards of all tags with the same prefix.
import { integer } from '../../ui/format';
import { Icon } from '../../ui/icons';
import { DistributionCard, isWide } from './DistributionCard';
import { cardId, type Group } from './groups';
import { cardHeight } from './layout';
import { LazyCard } from '../../ui/LazyCard';
import { closedGroups } from './settings';

// `id` is unique among groups, since names of groups contain no slash.
export function TagGroup({ id, group, width }: { id: string; group: Group; width: number }) {
  const name = group.name || 'without a group';
  const closed = closedGroups.value.includes(id);
  const toggle = (): void => {
    const old = closedGroups.peek();
    closedGroups.value = closed ? old.filter((one) => one !== id) : [...old, id];
  };
  return (
    <section class="dist-group" aria-label={name}>
      <button type="button" class="dist-group-head" aria-expanded={!closed} onClick={toggle}>
        <Icon name={closed ? 'right' : 'down'} />
        {name} <span class="muted">{integer(group.cards.length)}</span>
      </button>
      {!closed && (
        <div class="dist-grid">
          {group.cards.map((card) => (
            <LazyCard
              key={card.tag}
              id={cardId(card)}
              tag={card.tag}
              class={isWide(card) ? 'dist-wide' : ''}
              height={cardHeight(isWide(card) ? card.runs.length : 1, width)}
            >
              <DistributionCard card={card} />
            </LazyCard>
          ))}
        </div>
      )}
    </section>
  );
}
