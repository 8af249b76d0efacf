// All charts of a card, with the same axes.
import { useMemo, useRef } from 'preact/hooks';

import { middle } from '../../ui/format';
import type { RunSeries } from './data';
import { type Grid, kPanelTitle } from './layout';
import type { Series } from './model';
import { Panel } from './Panel';
import { domainOf, type Input, stepsOf } from './plot';
import { heights, reach, scale } from './settings';

export function Panels(props: { series: Series[]; found: RunSeries[]; apart: boolean; grid: Grid; onDrawn: () => void }) {
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
    const peaks = new Map<number, number>();
    return panels.map((panel): Input => ({ ...shared, width, height, series: panel, all: series, peaks }));
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
