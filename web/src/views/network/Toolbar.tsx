import { RangeField } from '../../chart/RangeField';
import { Choice } from '../../ui/Choice';
import { integer, middle } from '../../ui/format';
import { Menu, MenuCheck } from '../../ui/Menu';
import type { Scale } from './colour';
import { Legend } from './Legend';
import { kindLabel } from './rows';
import { against, cell, colours, depth, height, kind, runA, runB, sort, type Sort, spikes, statistic, steps } from './settings';
import { appliesTo, kStatisticGroups, type StatisticInfo } from './statistics';

export interface ToolbarProps {
  kinds: string[];
  now: string; // the kind that is shown
  info: StatisticInfo;
  runs: string[]; // those with statistics
  a: string;
  b: string | null;
  scale: Scale;
}

const kSorts: { value: Sort; label: string }[] = [
  { value: 'order', label: 'order of execution' },
  { value: 'name', label: 'name' },
  { value: 'value', label: 'largest value' },
  { value: 'spikes', label: 'most spikes' },
  { value: 'bad', label: 'most NaN, Inf' },
];

const kDepths = [
  { value: '0', label: 'tensors' },
  { value: '1', label: 'modules, 1 level' },
  { value: '2', label: 'modules, 2 levels' },
  { value: '3', label: 'modules, 3 levels' },
] as const;

interface Option {
  value: string;
  label: string;
}

function Select(props: { label: string; value: string; options: readonly Option[]; onChange: (value: string) => void }) {
  return (
    <label class="net-select">
      <span class="muted">{props.label}</span>
      <select aria-label={props.label} value={props.value} onChange={(event) => props.onChange(event.currentTarget.value)}>
        {props.options.map((one) => (
          <option key={one.value} value={one.value}>
            {one.label}
          </option>
        ))}
      </select>
    </label>
  );
}

function StatisticSelect({ now, info }: { now: string; info: StatisticInfo }) {
  return (
    <label class="net-select" title={info.about}>
      <span class="muted">colour</span>
      <select
        aria-label="Statistic"
        value={info.id}
        onChange={(event) => {
          statistic.value = event.currentTarget.value;
          colours.value = null;
        }}
      >
        {kStatisticGroups.map(([group, all]) => (
          <optgroup key={group} label={group}>
            {all.map((one) => (
              <option key={one.id} value={one.id} disabled={!appliesTo(one, now)}>
                {one.label}
              </option>
            ))}
          </optgroup>
        ))}
      </select>
    </label>
  );
}

function setAgainst(next: typeof against.value): void {
  against.value = next;
  colours.value = null;
}

export function Toolbar({ kinds, now, info, runs, a, b, scale }: ToolbarProps) {
  const named = runs.map((run) => ({ value: run, label: middle(run, 32) }));
  const options = [
    { value: 'absolute' as const, label: 'Absolute', title: 'The values, on one scale for all layers and steps' },
    { value: 'past' as const, label: 'Own past', title: 'Each layer against its own past: distance from the median of the 64 cells before, in robust standard deviations' },
    ...(b ? [{ value: 'difference' as const, label: 'Difference', title: `${b} against ${a}` }] : []),
  ];
  return (
    <div class="net-toolbar" role="toolbar" aria-label="What the map shows">
      <Choice
        label="Tensors"
        value={now}
        onChange={(value) => (kind.value = value)}
        options={kinds.map((one) => ({ value: one, label: kindLabel(one) }))}
      />
      <StatisticSelect now={now} info={info} />
      <Choice label="Against" value={b || against.value !== 'difference' ? against.value : 'absolute'} onChange={setAgainst} options={options} />
      {runs.length > 1 && (
        <>
          <Select label="run" value={a} options={named} onChange={(value) => (runA.value = value)} />
          <Select
            label="with"
            value={b ?? ''}
            options={[{ value: '', label: 'no other run' }, ...named.filter((one) => one.value !== a)]}
            onChange={(value) => {
              runB.value = value;
              if (value === '' && against.peek() === 'difference') setAgainst('absolute');
            }}
          />
        </>
      )}
      <Select label="rows" value={depth.value} options={kDepths} onChange={(value) => (depth.value = value as typeof depth.value)} />
      <Select label="by" value={sort.value} options={kSorts} onChange={(value) => (sort.value = value as Sort)} />
      {steps.value && (
        <button type="button" class="text-button" title="Show all steps again (0)" onClick={() => (steps.value = null)}>
          steps {integer(Math.ceil(steps.value[0]))} to {integer(Math.floor(steps.value[1]))} ✕
        </button>
      )}
      <Legend scale={scale} info={info} />
      <Menu label="More about the map" icon="gear">
        {() => (
          <>
            <MenuCheck label="Mark spikes" checked={spikes.value} onChange={(on) => (spikes.value = on)} />
            <MenuCheck label="Rows tall enough for names" checked={height.value === 'names'} onChange={(on) => (height.value = on ? 'names' : 'fit')} />
            <div class="menu-row">
              <span class="muted spring">a cell of several steps shows its</span>
              <Choice
                label="Value of a cell"
                value={cell.value}
                onChange={(value) => (cell.value = value)}
                options={[
                  { value: 'mean', label: 'mean' },
                  { value: 'max', label: 'max' },
                  { value: 'min', label: 'min' },
                ]}
              />
            </div>
            <div class="menu-row">
              <span class="muted spring">colours from</span>
              <RangeField label="Colours from" placeholder="data" value={colours.value?.[0] ?? null} onChange={(x) => (colours.value = x === null ? null : [x, Math.max(colours.value?.[1] ?? scale.hi, x + Math.abs(x) * 1e-3 + 1e-30)])} />
              <span class="muted">to</span>
              <RangeField label="Colours to" placeholder="data" value={colours.value?.[1] ?? null} onChange={(x) => (colours.value = x === null ? null : [Math.min(colours.value?.[0] ?? scale.lo, x - Math.abs(x) * 1e-3 - 1e-30), x])} />
            </div>
          </>
        )}
      </Menu>
    </div>
  );
}
