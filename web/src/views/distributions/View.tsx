import { useComputed } from '@preact/signals';
import { useRef } from 'preact/hooks';
import './style.css';

import { filteredTags, loaded, tagFilter, tags, visibleSet } from '../../state';
import { Choice } from '../../ui/Choice';
import { integer } from '../../ui/format';
import { useSize } from '../../ui/hooks';
import { Icon } from '../../ui/icons';
import { Menu } from '../../ui/Menu';
import { Copy, Empty, Loading } from '../../ui/states';
import { cardHeight, DistributionCard, isWide } from './DistributionCard';
import { type Group, groupTags } from './groups';
import { LazyCard } from './LazyCard';
import { closedGroups, heights, mode, reach, scale, source, stepWindow, together } from './settings';

const kKinds = ['histograms', 'statistics'];

export default function DistributionsView() {
  const groups = useComputed(() => groupTags(filteredTags.value, kKinds, visibleSet.value));
  const root = useRef<HTMLDivElement>(null);
  const { width } = useSize(root);
  return (
    <div class="dist-view" ref={root}>
      <Toolbar />
      {!loaded.value && <Loading what="Reading the log" />}
      {loaded.value && groups.value.length === 0 && <Nothing />}
      {width > 0 &&
        groups.value.map((group) => <TagGroup key={group.name} group={group} width={width - 2} />)}
    </div>
  );
}

function Toolbar() {
  const both = useComputed(() => kKinds.every((kind) => tags.value.some((tag) => tag.kind === kind)));
  return (
    <div class="dist-toolbar" role="toolbar" aria-label="How distributions are drawn">
      <Choice
        label="Chart"
        value={mode.value}
        onChange={(value) => (mode.value = value)}
        options={[
          { value: 'ridgeline', label: 'Ridgeline', title: 'One ridge a step, the newest in front' },
          { value: 'overlay', label: 'Overlay', title: 'All steps over one another' },
          { value: 'heatmap', label: 'Heat map', title: 'Steps to the right, values upwards, density as colour' },
          { value: 'bands', label: 'Percentiles', title: '0, 6.68, 15.87, 30.85, 50, 69.15, 84.13, 93.32 and 100 %' },
        ]}
      />
      <Choice
        label="Value axis"
        value={scale.value}
        onChange={(value) => (scale.value = value)}
        options={[
          { value: 'linear', label: 'Linear' },
          { value: 'log', label: 'Log', title: 'Logarithmic; on both sides of zero where signs mix' },
        ]}
      />
      <Choice
        label="Values"
        value={reach.value}
        onChange={(value) => (reach.value = value)}
        options={[
          { value: 'all', label: 'All', title: 'The axis reaches over every value' },
          { value: 'usual', label: '99 %', title: 'The axis leaves out the half percent at each end' },
        ]}
      />
      {mode.value !== 'bands' && (
        <Choice
          label="Heights"
          value={heights.value}
          onChange={(value) => (heights.value = value)}
          options={[
            { value: 'shared', label: 'One scale', title: 'Densities of all steps to one scale: areas are counts' },
            { value: 'each', label: 'Each step', title: 'Each step as high as there is room' },
          ]}
        />
      )}
      {mode.value !== 'heatmap' && (
        <Choice
          label="Runs"
          value={together.value}
          onChange={(value) => (together.value = value)}
          options={[
            { value: 'side', label: 'Side by side' },
            { value: 'together', label: 'Overlaid', title: 'All runs in one chart, by their colours' },
          ]}
        />
      )}
      {stepWindow.value && (
        <button type="button" class="text-button" title="Show all steps again" onClick={() => (stepWindow.value = null)}>
          steps {integer(stepWindow.value[0])} to {integer(stepWindow.value[1])} ✕
        </button>
      )}
      {mode.value === 'heatmap' && <Legend />}
      {both.value && (
        <Menu label="Where the bins come from" icon="gear">
          {() => (
            <div class="menu-row">
              <span class="muted">Bins of</span>
              <SourceChoice />
            </div>
          )}
        </Menu>
      )}
    </div>
  );
}

function Legend() {
  return (
    <span class="dist-scale muted" title="Logarithmic, over three decades; empty where nothing was counted">
      rare
      <i />
      dense
    </span>
  );
}

function SourceChoice() {
  return (
    <Choice
      label="Source"
      value={source.value}
      onChange={(value) => (source.value = value)}
      options={[
        { value: 'auto', label: 'Best', title: 'Statistics files where they have histograms, event files otherwise' },
        { value: 'statistics', label: 'Statistics', title: 'The bins of the statistics files' },
        { value: 'histograms', label: 'Events', title: "TensorBoard's histograms, from the event files" },
      ]}
    />
  );
}

function TagGroup({ group, width }: { group: Group; width: number }) {
  const name = group.name || 'without a group';
  const closed = closedGroups.value.includes(group.name);
  const toggle = (): void => {
    const old = closedGroups.peek();
    closedGroups.value = closed ? old.filter((one) => one !== group.name) : [...old, group.name];
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
              id={`distributions:${card.tag}`}
              tag={card.tag}
              class={isWide(card) ? 'dist-wide' : ''}
              height={cardHeight(card, width)}
            >
              <DistributionCard card={card} />
            </LazyCard>
          ))}
        </div>
      )}
    </section>
  );
}

function Nothing() {
  const any = tags.value.some((tag) => kKinds.includes(tag.kind));
  if (any) {
    return (
      <Empty title="No distribution to show">
        <p>
          {tagFilter.value ? 'No tag of a visible run matches the filter: change it, or show more runs.' : 'Show a run that has histograms: its name in the panel says which.'}
        </p>
      </Empty>
    );
  }
  return (
    <Empty title="No histograms in this log yet">
      <p>They appear here as soon as one is recorded:</p>
      <Copy text={'rec.histogram("dense_1/kernel", sonde::view(weights, {784, 128}), step);'} />
      <p>or, with TensorBoard's writers:</p>
      <Copy text={'writer.add_histogram("dense_1/kernel", weights, step)'} />
    </Empty>
  );
}
