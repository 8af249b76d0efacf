// One chart of a card: of one run, or of all of them.
import { useEffect, useMemo } from 'preact/hooks';

import { bands } from './bands';
import { Chart } from './Chart';
import { heatmap } from './heatmap';
import { isBad, stepAt } from './model';
import { overlay } from './overlay';
import type { Input, Plot } from './plot';
import { describe, lazily } from './panel_parts';
import type { Range } from './ranges';
import { RangePanel } from './RangePanel';
import { ridgeline } from './ridgeline';
import { type Mode, mode } from './settings';
import { Tip } from './Tip';

const kPlots: Record<Mode, (input: Input) => Plot> = { ridgeline, overlay, heatmap, bands };
const kWords: Record<Mode, string> = { ridgeline: 'Ridgeline', overlay: 'Overlay', heatmap: 'Heat map', bands: 'Percentile bands' };

export interface PanelProps {
  input: Input;
  ranges: Range[] | null; // instead of bins
  onDrawn: () => void;
}

export function Panel({ input, ranges, onDrawn }: PanelProps) {
  if (ranges) return <RangePanel input={input} all={ranges} onDrawn={onDrawn} />;
  if (!input.domain) return <NothingDrawn input={input} onDrawn={onDrawn} />;
  return <BinPanel input={input} drawn={mode.value} onDrawn={onDrawn} />;
}

function NothingDrawn({ input, onDrawn }: { input: Input; onDrawn: () => void }) {
  useEffect(onDrawn, []);
  const bad = input.series.some((one) => one.steps.some(isBad));
  return <p class="dist-none muted">{bad ? 'None of these steps has a finite value.' : 'These histograms are empty: no value was counted.'}</p>;
}

function BinPanel({ input, drawn, onDrawn }: { input: Input; drawn: Mode; onDrawn: () => void }) {
  const plot = useMemo(() => lazily(() => kPlots[drawn](input)), [drawn, input]);
  const steps = input.series.reduce((sum, one) => sum + one.steps.length, 0);
  const several = input.series.length > 1;
  return (
    <Chart
      label={describe(kWords[drawn], input, steps)}
      width={input.width}
      height={input.height}
      plot={plot}
      onDrawn={onDrawn}
      tip={(hit) => {
        const series = input.series[hit.series];
        const of = series?.steps[hit.index];
        return series && of && <Tip run={several ? series : null} of={of} bin={hit.bin} withPercentiles={drawn === 'bands'} />;
      }}
      current={(step) =>
        input.series.map((one) => {
          const of = one.steps[stepAt(one.steps, step)];
          return of && <Tip key={one.run} run={several ? one : null} of={of} bin={-1} withPercentiles />;
        })
      }
    />
  );
}
