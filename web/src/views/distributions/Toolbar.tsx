import { useComputed } from '@preact/signals';

import { tags } from '../../state';
import { Choice } from '../../ui/Choice';
import { integer } from '../../ui/format';
import { Menu } from '../../ui/Menu';
import { kKinds } from './groups';
import { heights, mode, reach, scale, source, stepWindow, together } from './settings';

export function Toolbar() {
  const both = useComputed(() => kKinds.every((kind) => tags.value.some((tag) => tag.kind === kind)));
  return (
    <div class="dist-toolbar" role="toolbar" aria-label="How distributions are drawn">
      <Choice
        label="Chart"
        value={mode.value}
        onChange={(value) => (mode.value = value)}
        options={[
          { value: 'ridgeline', label: 'Ridgeline', title: 'One ridge per step, the newest in front' },
          { value: 'overlay', label: 'Overlay', title: 'All steps on top of each other' },
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
          { value: 'log', label: 'Log', title: 'Logarithmic; on both sides of zero if the signs differ' },
        ]}
      />
      <Choice
        label="Values"
        value={reach.value}
        onChange={(value) => (reach.value = value)}
        options={[
          { value: 'all', label: 'All', title: 'The axis covers every value' },
          { value: 'usual', label: '99 %', title: 'The axis excludes 0.5 % at each end' },
        ]}
      />
      {mode.value !== 'bands' && (
        <Choice
          label="Heights"
          value={heights.value}
          onChange={(value) => (heights.value = value)}
          options={[
            { value: 'shared', label: 'One scale', title: 'All steps on one scale: areas are shares of the finite values' },
            { value: 'each', label: 'Each step', title: 'Each step scaled to the full height' },
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
    <span class="dist-scale muted" title="Logarithmic, over three decades; empty cells have no values">
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
        { value: 'auto', label: 'Best', title: 'Statistics files if they have histograms, otherwise event files' },
        { value: 'statistics', label: 'Statistics', title: 'The bins of the statistics files' },
        { value: 'histograms', label: 'Events', title: "TensorBoard's histograms, from the event files" },
      ]}
    />
  );
}
