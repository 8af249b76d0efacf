import type { ComponentChildren } from 'preact';
import { useMemo, useRef, useState } from 'preact/hooks';

import { MetricCard } from '../../chart/MetricCard';
import { cardSize } from '../../chart/settings';
import { scalarTags, scalarsByTag } from '../../headline';
import { filteredTags, layouts, tagFilter, tagPattern } from '../../state';
import { MenuItem } from '../../ui/Menu';
import { movePin, pins } from '../../ui/cards';
import { Copy, Empty } from '../../ui/states';
import { NewChart } from './NewChart';
import { Portions, SectionView } from './SectionView';
import { StatLines } from './StatLines';
import { Toolbar } from './Toolbar';
import { type PlannedChart, filteredCategories, matches, placedTags, planned } from './layouts';
import './metrics.css';
import { type Section, sectionsOf } from './sections';
import { type OwnChart, ownCharts } from './state';

type Combine = (tags: string[]) => void;

function TagCard({ tag, title, onCombine }: { tag: string; title?: string; onCombine: Combine }) {
  const known = scalarsByTag.value.get(tag);
  const about = [tag, known?.description].filter(Boolean).join('\n');
  return (
    <MetricCard
      id={`metrics:${tag}`}
      title={known?.display || title || tag}
      fullTitle={about}
      tags={[tag]}
      more={(close) => <MenuItem onClick={() => (close(), onCombine([tag]))}>Combine with other tags…</MenuItem>}
    />
  );
}

function OwnCard({ chart }: { chart: OwnChart }) {
  return (
    <MetricCard
      id={`chart:${chart.title}`}
      title={chart.title}
      tags={chart.tags}
      more={(close) => (
        <MenuItem onClick={() => (close(), (ownCharts.value = ownCharts.peek().filter((one) => one !== chart)))}>
          Remove this chart
        </MenuItem>
      )}
    />
  );
}

const PlannedCard = ({ chart }: { chart: PlannedChart }) => (
  <MetricCard id={chart.id} title={chart.title} tags={chart.tags} margins={chart.margins} />
);

function TagSection({ section, onCombine }: { section: Section; onCombine: Combine }) {
  const card = ({ tag, title }: Section['parts'][number]['tags'][number]) => (
    <TagCard key={tag} tag={tag} title={title} onCombine={onCombine} />
  );
  const [only, ...more] = section.parts;
  const path = (part: string) => (part === '' ? section.name : `${section.name}/${part}`);
  const title = only && more.length === 0 ? path(only.name) : section.name;
  return (
    <SectionView id={`/${section.name}`} title={title || 'Metrics'} count={section.count}>
      {() =>
        section.parts.map((part) =>
          part.name === '' || more.length === 0 ? (
            <Portions key={part.name} items={part.tags} card={card} />
          ) : (
            <SectionView key={part.name} id={`/${path(part.name)}`} title={path(part.name)} count={part.tags.length} level={3}>
              {() => <Portions items={part.tags} card={card} />}
            </SectionView>
          ),
        )
      }
    </SectionView>
  );
}

function Pinned({ categories, onCombine }: { categories: ReturnType<typeof planned>; onCombine: Combine }) {
  const charts = new Map(categories.flatMap((category) => category.charts).map((chart) => [chart.id, chart]));
  const known = new Set(scalarTags.value.map((tag) => tag.tag));
  const cards = pins.value.flatMap((id) => {
    const tag = id.startsWith('metrics:') ? id.slice(8) : null;
    if (tag !== null && known.has(tag)) return [<TagCard key={id} tag={tag} onCombine={onCombine} />];
    const own = ownCharts.value.find((chart) => `chart:${chart.title}` === id);
    if (own) return [<OwnCard key={id} chart={own} />];
    const chart = charts.get(id);
    return chart ? [<PlannedCard key={id} chart={chart} />] : [];
  });
  if (cards.length === 0) return null;
  return (
    <SectionView id="pinned" title="Pinned" count={cards.length}>
      {() => <DragGrid>{cards}</DragGrid>}
    </SectionView>
  );
}

// Cards that are dragged by their heads to the places of others.
function DragGrid({ children }: { children: ComponentChildren }) {
  const grabbed = useRef<string | null>(null);
  const placeOf = (event: Event) => (event.target as HTMLElement).closest<HTMLElement>('[data-place]');
  return (
    <div
      class="card-grid drag-grid"
      onPointerDown={(event) => {
        const head = (event.target as HTMLElement).closest('.card-head');
        const place = head && !(event.target as HTMLElement).closest('button') ? placeOf(event) : null;
        grabbed.current = place?.dataset['place'] ?? null;
        // Only while it is held: elsewhere in a card a drag zooms.
        place?.setAttribute('draggable', 'true');
      }}
      onDragEnd={(event) => placeOf(event)?.removeAttribute('draggable')}
      onPointerUp={(event) => placeOf(event)?.removeAttribute('draggable')}
      onDragStart={(event) => grabbed.current && event.dataTransfer?.setData('text/plain', grabbed.current)}
      onDragOver={(event) => {
        if (grabbed.current && placeOf(event)) event.preventDefault();
      }}
      onDrop={(event) => {
        event.preventDefault();
        const to = placeOf(event)?.dataset['place'];
        if (grabbed.current && to) movePin(grabbed.current, to);
        grabbed.current = null;
      }}
    >
      {children}
    </div>
  );
}

export default function Metrics() {
  const [combining, setCombining] = useState<string[] | null>(null);
  const names = filteredTags.value.filter((tag) => tag.kind === 'scalars').map((tag) => tag.tag);
  // Live logs repeat the same names every second: cards are planned again only when names change.
  const key = names.join('\n');
  const pinned = new Set(pins.value);
  const all = scalarTags.value.map((tag) => tag.tag);
  const categories = useMemo(() => planned(layouts.value, all), [layouts.value, all.join('\n')]);
  const filtered = tagFilter.value !== '';
  const matching = useMemo(() => filteredCategories(categories, tagPattern.value), [categories, tagPattern.value]);
  const sections = useMemo(() => {
    const placed = placedTags(matching);
    return sectionsOf(names.filter((tag) => !pinned.has(`metrics:${tag}`) && !placed.has(tag)));
  }, [key, pins.value, matching]);
  const own = ownCharts.value.filter((chart) => matches(chart, tagPattern.value));
  const shown = own.filter((chart) => !pinned.has(`chart:${chart.title}`));
  return (
    <div class={`metrics size-${cardSize.value}`}>
      <Toolbar onNew={() => setCombining([])} />
      <Pinned categories={categories} onCombine={setCombining} />
      {shown.length > 0 && (
        <SectionView id="own" title="Your charts" count={shown.length}>
          {() => (
            <div class="card-grid">
              {shown.map((chart) => (
                <OwnCard key={chart.title} chart={chart} />
              ))}
            </div>
          )}
        </SectionView>
      )}
      <StatLines card={(tag) => <TagCard key={tag} tag={tag} onCombine={setCombining} />} />
      {matching.map((category) => (
        <SectionView
          key={category.id}
          id={category.id}
          title={category.title}
          count={category.charts.length}
          initiallyClosed={category.closed && !filtered}
        >
          {() => (
            <div class="card-grid">
              {category.charts.map((chart) => !pinned.has(chart.id) && <PlannedCard key={chart.id} chart={chart} />)}
            </div>
          )}
        </SectionView>
      ))}
      {sections.map((section) => (
        <TagSection key={section.name} section={section} onCombine={setCombining} />
      ))}
      {all.length === 0 && (
        <Empty title="No scalars yet">
          <p>Nothing that can be drawn as a line was recorded. In C++:</p>
          <Copy text={'rec.scalar("loss", loss, step);'} />
        </Empty>
      )}
      {all.length > 0 && names.length + matching.length + own.length === 0 && (
        <Empty title="No tag matches the filter">
          <button type="button" class="text-button" onClick={() => (tagFilter.value = '')}>
            Show all tags
          </button>
        </Empty>
      )}
      {combining && <NewChart first={combining} onClose={() => setCombining(null)} />}
    </div>
  );
}
