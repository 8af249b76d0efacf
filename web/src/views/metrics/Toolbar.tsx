import type { Axis } from '../../api_types';
import { RangeField } from '../../chart/RangeField';
import * as settings from '../../chart/settings';
import { axis, kMostSmooth, smooth, smoothing } from '../../state';
import { Choice } from '../../ui/Choice';
import { Field } from '../../ui/Field';
import { IconButton } from '../../ui/IconButton';
import { Menu, MenuCheck } from '../../ui/Menu';
import { Slider } from '../../ui/Slider';

const kAxes: { value: Axis; label: string; title: string }[] = [
  { value: 'step', label: 'Step', title: 'x is the step' },
  { value: 'relative', label: 'Relative', title: 'x is the time since the run began' },
  { value: 'wall', label: 'Wall', title: 'x is the time of day' },
];

const kSorts = [
  { value: 'value', label: 'value' },
  { value: 'nearest', label: 'nearest' },
  { value: 'name', label: 'name' },
] as const;

const kSizes = [
  { value: 's', label: 'S' },
  { value: 'm', label: 'M' },
  { value: 'l', label: 'L' },
] as const;

// Empty: automatic, by the density of the points.
function setSmoothing(text: string): void {
  const weight = Number(text.replace(',', '.'));
  if (text.trim() === '') smoothing.value = null;
  else if (Number.isFinite(weight)) smoothing.value = Math.min(kMostSmooth, Math.max(0, weight));
}

function setAxis(next: Axis): void {
  // A range of steps does not apply to seconds.
  if (axis.peek() !== next) settings.resetZoom();
  axis.value = next;
}

// Sets the visible range by hand: in steps or seconds, depending on the axis.
function XRange() {
  const [lo, hi] = settings.xRange.value ?? [null, null];
  const [first, last] = settings.wholeRange.value;
  const set = (from: number | null, to: number | null) => {
    if (from === null && to === null) settings.resetZoom();
    else settings.zoomTo([from ?? first, to ?? last]);
  };
  return (
    <div class="menu-row">
      <span class="muted spring">x from</span>
      <RangeField label="x from" placeholder="first" value={lo} onChange={(x) => set(x, hi)} />
      <span class="muted">to</span>
      <RangeField label="x to" placeholder="last" value={hi} onChange={(x) => set(lo, x)} />
    </div>
  );
}

export function Toolbar({ onNew }: { onNew: () => void }) {
  return (
    <div class="toolbar" role="toolbar" aria-label="How charts are drawn">
      <Choice label="Horizontal axis" value={axis.value} options={kAxes} onChange={setAxis} />
      <Slider
        label="Smoothing"
        value={smooth.value}
        min={0}
        max={kMostSmooth}
        step={0.001}
        format={(x) => (smoothing.value === null ? 'automatic' : String(x))}
        hideValue
        onInput={(x) => (smoothing.value = x)}
      />
      <Field
        class="smooth-field"
        inputMode="decimal"
        label="Smoothing weight"
        placeholder="auto"
        value={smoothing.value === null ? '' : String(smoothing.value)}
        onCommit={setSmoothing}
      />
      <div class="choice" role="group" aria-label="Scales">
        <button
          type="button"
          aria-pressed={settings.logX.value}
          onClick={() => (settings.logX.value = !settings.logX.value)}
        >
          log x
        </button>
        <button
          type="button"
          aria-pressed={settings.logY.value}
          onClick={() => (settings.logY.value = !settings.logY.value)}
        >
          log y
        </button>
        <button
          type="button"
          aria-pressed={settings.clip.value}
          title="Fit the y axis without the few values that would make all others flat"
          onClick={() => (settings.clip.value = !settings.clip.value)}
        >
          clip outliers
        </button>
        <button
          type="button"
          aria-pressed={settings.showMean.value}
          title="One line for each group of runs: mean, standard deviation, smallest and largest"
          onClick={() => (settings.showMean.value = !settings.showMean.value)}
        >
          mean ± spread
        </button>
      </div>
      <span class="spring" />
      <IconButton
        icon="reset"
        label="Show everything"
        disabled={settings.xRange.value === null}
        onClick={settings.resetZoom}
      />
      <IconButton
        icon="select"
        label="Drag marks a range (alt + drag)"
        pressed={settings.selecting.value}
        onClick={() => (settings.selecting.value = !settings.selecting.value)}
      />
      <IconButton
        icon="table"
        label="Tables of values"
        pressed={settings.showTable.value}
        onClick={() => (settings.showTable.value = !settings.showTable.value)}
      />
      <IconButton icon="plus" label="New chart of several tags" onClick={onNew} />
      <Menu label="Chart settings" icon="gear">
        {() => (
          <>
            <div class="menu-row">
              <span class="muted spring">Tooltip sorted by</span>
              <Choice
                label="Tooltip sorted by"
                value={settings.tooltipSort.value}
                options={kSorts}
                onChange={(value) => (settings.tooltipSort.value = value)}
              />
            </div>
            <div class="menu-row">
              <span class="muted spring">Size of cards</span>
              <Choice
                label="Size of cards"
                value={settings.cardSize.value as 's' | 'm' | 'l'}
                options={kSizes}
                onChange={(value) => (settings.cardSize.value = value)}
              />
            </div>
            <XRange />
            <MenuCheck
              label="Tables of values"
              checked={settings.showTable.value}
              onChange={(on) => (settings.showTable.value = on)}
            />
          </>
        )}
      </Menu>
    </div>
  );
}
