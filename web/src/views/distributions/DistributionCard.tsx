// The distributions of one tag, over its runs: a panel for each, or one for all.
import { useMemo, useRef, useState } from 'preact/hooks';

import { colorOf } from '../../state';
import { Card } from '../../ui/Card';
import { fullCard } from '../../ui/cards';
import { integer, middle, plural } from '../../ui/format';
import { useAsked, useSize } from '../../ui/hooks';
import { Failure, Loading } from '../../ui/states';
import { ask, most, questionKey, type RunSeries } from './data';
import type { TagCard } from './groups';
import type { Series } from './model';
import { Panel } from './Panel';
import { domainOf, type Input, stepsOf } from './plot';
import { heights, mode, reach, scale, source, stepWindow, together } from './settings';

const kMostPanels = 12; // more can be neither compared nor drawn at once
const kMostTogether = 24;
const kPanelTitle = 20; // CSS pixels
const kPanelWidth = 220; // at least
const kRow = 250; // height of a card's body
const kNextRow = 220;
const kHead = 38; // of a card, with its border

// Whether a card has a panel for each run, and so a row of its own. Cells of two runs would cover one another.
export const isWide = (card: TagCard): boolean => card.runs.length > 1 && (together.value === 'side' || mode.value === 'heatmap');

// How high a card is in a view of some width, CSS pixels.
export function cardHeight(card: TagCard, width: number): number {
  const panels = isWide(card) ? Math.min(card.runs.length, kMostPanels) : 1;
  return kHead + kRow + (panelGrid(panels, width, 0).rows - 1) * kNextRow;
}

export function DistributionCard({ card }: { card: TagCard }) {
  const body = useRef<HTMLDivElement>(null);
  const id = `distributions:${card.tag}`;
  const full = fullCard.value === id;
  const [ready, setReady] = useState(false);
  const size = useSize(body);
  const drawn = mode.value;
  const apart = together.value === 'side' || drawn === 'heatmap';
  const runs = card.runs.slice(0, apart ? kMostPanels : kMostTogether);
  const grid = panelGrid(apart ? runs.length : 1, size.width, size.height);
  const count = most(drawn, grid.width, grid.height);
  const question = { tag: card.tag, runs, source: source.value, window: stepWindow.value, count };
  const asked = useAsked(size.width > 0 ? questionKey(question) : null, (signal) => ask(question, signal));
  const found = useMemo(() => asked.value?.filter((one) => one.steps.length > 0) ?? [], [asked.value]);
  const series = found.map((one): Series => ({ ...one, colour: colorOf(one.run) }));
  const recorded = found.reduce((sum, one) => sum + one.recorded, 0);
  const state: Record<string, string> = { chart: card.tag };
  if (ready) Object.assign(state, { ready: '', points: String(recorded) });
  return (
    <Card
      id={id}
      title={card.tag}
      subtitle={<Subtitle card={card} found={found} shown={runs.length} />}
      mayPin={false}
      data={state}
    >
      <div class="dist-body" style={{ height: full ? '100%' : `${kRow + (grid.rows - 1) * kNextRow}px` }} ref={body}>
        {asked.error && !asked.value && <Failure text={asked.error} />}
        {!asked.value && !asked.error && <Loading what="Reading histograms" />}
        {asked.value && !asked.loading && series.length === 0 && <p class="dist-none muted">Nothing of this source and in these steps: choose others above.</p>}
        {series.length > 0 && <Panels series={series} found={found} apart={apart} grid={grid} onDrawn={() => setReady(true)} />}
      </div>
    </Card>
  );
}

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

function Panels(props: { series: Series[]; found: RunSeries[]; apart: boolean; grid: Grid; onDrawn: () => void }) {
  const { series, apart, grid } = props;
  const panels = apart ? series.map((one) => [one]) : [series];
  const legend = !apart && series.length > 1;
  const colours = series.map((one) => one.colour).join();
  const width = grid.width;
  const height = grid.height - (legend ? kPanelTitle : 0);
  const drawn = useRef(new Set<string>());
  const onDrawn = (run: string): void => {
    if (drawn.current.add(run).size === panels.length) props.onDrawn();
  };
  const inputs = useMemo(() => {
    const shared = { scale: scale.value, heights: heights.value, domain: domainOf(series, reach.value, scale.value), steps: stepsOf(series) };
    return panels.map((panel): Input => ({ ...shared, width, height, series: panel }));
  }, [props.found, colours, width, height, scale.value, heights.value, reach.value, apart]);
  return (
    <>
      {legend && <Legend series={series} />}
      <div class="dist-panels">
        {inputs.map((input) => {
          const of = input.series[0]!;
          return (
            <figure key={of.run} class="dist-panel" style={{ width: `${width}px` }}>
              {apart && panels.length > 1 && <figcaption><Name of={of} /></figcaption>}
              <Panel input={input} ranges={props.found.find((one) => one.run === of.run)?.ranges ?? null} onDrawn={() => onDrawn(of.run)} />
            </figure>
          );
        })}
      </div>
    </>
  );
}

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

function Subtitle(props: { card: TagCard; found: RunSeries[]; shown: number }) {
  const { card, found, shown } = props;
  const total = card.runs.length;
  const recorded = found.reduce((sum, one) => sum + one.recorded, 0);
  const drawn = found.reduce((sum, one) => sum + one.steps.length, 0);
  const nan = first(found.map((one) => one.firstNan));
  const infinite = first(found.map((one) => one.firstInfinite));
  return (
    <>
      {recorded > drawn ? `${integer(drawn)} of ${plural(recorded, 'step')}` : plural(recorded, 'step')}
      {total > 1 && ` · ${shown < total ? `${shown} of ${plural(total, 'run')}` : plural(total, 'run')}`}
      {nan !== null && <span class="dist-nan"> · NaN at {integer(nan)}</span>}
      {infinite !== null && <span class="dist-inf"> · Inf at {integer(infinite)}</span>}
    </>
  );
}

function first(steps: (number | null)[]): number | null {
  const known = steps.filter((step) => step !== null);
  return known.length > 0 ? Math.min(...known) : null;
}
