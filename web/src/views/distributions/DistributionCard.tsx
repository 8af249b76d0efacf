// The distributions of one tag, over its runs: a panel for each, or one for all. Asked for and drawn only while it is near the screen.
import { useMemo, useRef } from 'preact/hooks';

import { colorOf } from '../../state';
import { Card } from '../../ui/Card';
import { fullCard } from '../../ui/cards';
import { integer, middle, plural } from '../../ui/format';
import { useAsked, useSize, useVisible } from '../../ui/hooks';
import { Failure, Loading } from '../../ui/states';
import { Chart } from './Chart';
import { ask, most, questionKey, type RunSeries } from './data';
import type { TagCard } from './groups';
import type { Series } from './model';
import { domainOf, type Input, stepsOf } from './plot';
import { heights, mode, reach, scale, source, together } from './settings';

const kMostPanels = 12; // more can be neither compared nor drawn at once
const kMostTogether = 24;
const kPanelTitle = 20; // CSS pixels
const kPanelWidth = 220; // at least

export function DistributionCard({ card }: { card: TagCard }) {
  const root = useRef<HTMLElement>(null);
  const body = useRef<HTMLDivElement>(null);
  const id = `distributions:${card.tag}`;
  const full = fullCard.value === id;
  const near = useVisible(root) || full; // what fills the screen is not where it scrolls
  const size = useSize(body);
  const drawn = mode.value;
  // Cells of two runs would cover one another.
  const apart = together.value === 'side' || drawn === 'heatmap';
  const runs = card.runs.slice(0, apart ? kMostPanels : kMostTogether);
  const grid = panelGrid(apart ? runs.length : 1, size.width, size.height);
  const count = most(drawn, grid.width, grid.height);
  const asking = near && size.width > 0;
  const asked = useAsked(asking ? questionKey(card, runs, source.value, count) : null, (signal) =>
    ask(card, runs, source.value, count, signal),
  );
  const found = useMemo(() => asked.value?.filter((one) => one.steps.length > 0) ?? [], [asked.value]);
  const series = found.map((one): Series => ({ ...one, colour: colorOf(one.run) }));
  const ready = asked.value !== undefined && !asked.loading;
  const recorded = found.reduce((sum, one) => sum + one.recorded, 0);
  const state: Record<string, string> = { chart: card.tag };
  if (ready) Object.assign(state, { ready: '', points: String(recorded) });
  return (
    <Card
      id={id}
      title={card.tag}
      subtitle={<Subtitle found={found} total={card.runs.length} shown={runs.length} />}
      mayPin={false}
      class={`dist-card ${apart && runs.length > 1 ? 'dist-card-wide' : ''}`}
      data={state}
      elementRef={root}
    >
      <div class={`dist-body ${rows(grid.rows, full)}`} ref={body}>
        {near && asked.error && !asked.value && <Failure text={asked.error} />}
        {near && !asked.value && !asked.error && <Loading what="Reading histograms" />}
        {near && ready && series.length === 0 && <p class="dist-none muted">No histogram of this source: choose another above.</p>}
        {near && series.length > 0 && <Panels series={series} found={found} apart={apart} grid={grid} />}
      </div>
    </Card>
  );
}

const rows = (count: number, full: boolean): string => (full ? '' : `dist-rows-${Math.min(count, 4)}`);

interface Grid {
  columns: number;
  rows: number;
  width: number; // of a panel
  height: number;
}

function panelGrid(panels: number, width: number, height: number): Grid {
  const columns = width === 0 ? panels : Math.max(1, Math.min(panels, Math.floor(width / kPanelWidth)));
  const count = Math.max(1, Math.ceil(panels / columns));
  const title = panels > 1 ? kPanelTitle : 0;
  return { columns, rows: count, width: Math.floor(width / columns), height: Math.floor(height / count) - title };
}

function Panels(props: { series: Series[]; found: RunSeries[]; apart: boolean; grid: Grid }) {
  const { series, apart, grid } = props;
  const panels = apart ? series.map((one) => [one]) : [series];
  const legend = !apart && series.length > 1;
  const colours = series.map((one) => one.colour).join();
  const width = grid.width;
  const height = grid.height - (legend ? kPanelTitle : 0);
  const inputs = useMemo(() => {
    const shared = { scale: scale.value, heights: heights.value, domain: domainOf(series, reach.value), steps: stepsOf(series) };
    return panels.map((panel): Input => ({ ...shared, width, height, series: panel }));
  }, [props.found, colours, width, height, scale.value, heights.value, reach.value, apart]);
  return (
    <>
      {legend && <Legend series={series} />}
      <div class="dist-panels">
        {inputs.map((input) => (
          <figure key={input.series[0]!.run} class="dist-panel" style={{ width: `${width}px` }}>
            {apart && panels.length > 1 && <figcaption><Name of={input.series[0]!} /></figcaption>}
            <Panel input={input} withoutBins={apart && props.found.find((one) => one.run === input.series[0]!.run)!.withoutBins} />
          </figure>
        ))}
      </div>
    </>
  );
}

function Panel({ input, withoutBins }: { input: Input; withoutBins: boolean }) {
  if (withoutBins || !input.domain) {
    return (
      <p class="dist-none muted">
        {withoutBins
          ? 'Recorded without histograms: add "histogram" to what the policy records.'
          : 'None of these steps has a finite value.'}
      </p>
    );
  }
  const [first, last] = input.steps;
  const names = input.series.map((one) => one.run).join(', ');
  const steps = input.series.reduce((sum, one) => sum + one.steps.length, 0);
  const label = `${kWords[mode.value]} of ${names}: ${plural(steps, 'step')} from ${integer(first)} to ${integer(last)}`;
  return <Chart label={label} mode={mode.value} input={input} />;
}

const kWords = { ridgeline: 'Ridgeline', overlay: 'Overlay', heatmap: 'Heat map', bands: 'Percentile bands' };

function Legend({ series }: { series: Series[] }) {
  return (
    <ul class="dist-legend">
      {series.map((one) => (
        <li key={one.run}><Name of={one} /></li>
      ))}
    </ul>
  );
}

function Name({ of }: { of: Series }) {
  return (
    <span class="dist-name" title={of.run}>
      <i class="dist-swatch" style={{ background: of.colour }} />
      {middle(of.run, 28)}
    </span>
  );
}

function Subtitle(props: { found: RunSeries[]; total: number; shown: number }) {
  const { found, total, shown } = props;
  const recorded = found.reduce((sum, one) => sum + one.recorded, 0);
  const drawn = found.reduce((sum, one) => sum + one.steps.length, 0);
  const bad = found.flatMap((one) => one.steps);
  const nan = bad.find((one) => one.nan > 0);
  const infinite = bad.find((one) => one.positiveInfinity + one.negativeInfinity > 0);
  return (
    <>
      {recorded > drawn ? `${integer(drawn)} of ${plural(recorded, 'step')}` : plural(recorded, 'step')}
      {total > 1 && ` · ${shown < total ? `${shown} of ${plural(total, 'run')}` : plural(total, 'run')}`}
      {nan && <span class="dist-nan"> · NaN at {integer(nan.step)}</span>}
      {infinite && <span class="dist-inf"> · Inf at {integer(infinite.step)}</span>}
    </>
  );
}
