import { useComputed } from '@preact/signals';
import { useRef } from 'preact/hooks';
import './style.css';

import { NothingHere } from '../../shell/NothingHere';
import { filteredTags, loaded, tags, visibleSet } from '../../state';
import { pins } from '../../ui/cards';
import { useSize } from '../../ui/hooks';
import { Loading } from '../../ui/states';
import { cardId, type Group, groupTags, kKinds } from './groups';
import { TagGroup } from './TagGroup';
import { Toolbar } from './Toolbar';

// The tag filter does not hide pinned cards; they are in the order in which they were pinned.
function pinnedGroup(): Group {
  const order = new Map(pins.value.map((id, i) => [id, i]));
  const wanted = tags.value.filter((tag) => order.has(cardId(tag)));
  const cards = groupTags(wanted, kKinds, visibleSet.value).flatMap((group) => group.cards);
  cards.sort((a, b) => (order.get(cardId(a)) ?? 0) - (order.get(cardId(b)) ?? 0));
  return { name: 'Pinned', cards };
}

export default function DistributionsView() {
  const pinned = useComputed(pinnedGroup);
  const groups = useComputed(() => {
    const others = filteredTags.value.filter((tag) => !pins.value.includes(cardId(tag)));
    return groupTags(others, kKinds, visibleSet.value);
  });
  const root = useRef<HTMLDivElement>(null);
  const { width } = useSize(root);
  const anyPinned = pinned.value.cards.length > 0;
  return (
    <div class="dist-view" ref={root}>
      <Toolbar />
      {!loaded.value && <Loading what="Reading the log" />}
      {loaded.value && groups.value.length === 0 && !anyPinned && (
        <NothingHere
          kinds={kKinds}
          title="No distribution to show"
          filtered="No tag of a visible run matches the filter: change it, or show more runs."
          hidden="Show a run that has histograms: its name in the panel says which."
          none="No histograms in this log yet"
          cpp={'rec.histogram("dense_1/kernel", sonde::view(weights, {784, 128}), step);'}
          python={'writer.add_histogram("dense_1/kernel", weights, step)'}
        />
      )}
      {width > 0 && anyPinned && <TagGroup id="/pinned" group={pinned.value} width={width - 2} />}
      {width > 0 &&
        groups.value.map((group) => <TagGroup key={group.name} id={group.name} group={group} width={width - 2} />)}
    </div>
  );
}
