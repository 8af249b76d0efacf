// One chart of a card: of one run, or of all of them.
import { useEffect, useMemo } from 'preact/hooks';

import { integer, plural, value } from '../../ui/format';
import { bands } from './bands';
import { Chart } from './Chart';
import { heatmap } from './heatmap';
import { overlay } from './overlay';
import type { Input, Plot } from './plot';
import { type Range, ranges as plotRanges } from './ranges';
import { ridgeline } from './ridgeline';
import { type Mode, mode } from './settings';
import { BadLines, Rows, StepLine, Tip } from './Tip';

const kPlots: Record<Mode, (input: Input) => Plot> = { ridgeline, overlay, heatmap, bands };
const kWords: Record<Mode, string> = { ridgeline: 'Ridgeline', overlay: 'Overlay', heatmap: 'Heat map', bands: 'Percentile bands' };

export interface PanelProps {
  input: Input;
  ranges: Range[] | null; // instead of bins
  onDrawn: () => void;
}

export function Panel({ input, ranges, onDrawn }: PanelProps) {
  if (ranges) return <RangePanel input={input} all={ranges} onDrawn={onDrawn} />;
  if (!input.domain) return <NothingFinite onDrawn={onDrawn} />;
  return <BinPanel input={input} drawn={mode.value} onDrawn={onDrawn} />;
}

function NothingFinite({ onDrawn }: { onDrawn: () => void }) {
  useEffect(onDrawn, []);
  return <p class="dist-none muted">None of these steps has a finite value.</p>;
}

// Made when it is needed, and once.
function lazily(make: () => Plot): () => Plot {
  let made: Plot | null = null;
  return () => (made ??= make());
}

function describe(what: string, input: Input, steps: number): string {
  const [first, last] = input.steps;
  const names = input.series.map((one) => one.run).join(', ');
  return `${what} of ${names}: ${plural(steps, 'step')} from ${integer(first)} to ${integer(last)}. A click sets the step cursor.`;
}

function BinPanel({ input, drawn, onDrawn }: { input: Input; drawn: Mode; onDrawn: () => void }) {
  const plot = useMemo(() => lazily(() => kPlots[drawn](input)), [drawn, input]);
  const steps = input.series.reduce((sum, one) => sum + one.steps.length, 0);
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
        const run = series && input.series.length > 1 ? { name: series.run, colour: series.colour } : null;
        return of && <Tip run={run} of={of} bin={hit.bin} withPercentiles={drawn === 'bands'} />;
      }}
    />
  );
}

function RangePanel({ input, all, onDrawn }: { input: Input; all: Range[]; onDrawn: () => void }) {
  const colour = input.series[0]?.colour ?? '';
  const plot = useMemo(() => {
    const finite = all.filter((one) => Number.isFinite(one.min) && Number.isFinite(one.max));
    const low = Math.min(...finite.map((one) => one.min));
    const high = Math.max(...finite.map((one) => one.max));
    const size = finite.map((one) => Math.abs(one.mean) + one.std).sort((a, b) => a - b)[finite.length >> 1] || 1;
    const domain = finite.length > 0 ? { low, high, threshold: size / 100 } : null;
    return lazily(() => plotRanges({ ...input, domain }, all, colour));
  }, [input, all, colour]);
  return (
    <>
      <Chart
        label={describe('Smallest, mean and largest value', input, all.length)}
        width={input.width}
        height={input.height}
        plot={plot}
        onDrawn={onDrawn}
        tip={(hit) => {
          const of = all[hit.index];
          return of && <RangeTip of={of} />;
        }}
      />
      <span class="dist-ranges muted" title={'Recorded without histograms: add "histogram" to what the policy records'}>
        min · mean ± std · max
      </span>
    </>
  );
}

function RangeTip({ of }: { of: Range }) {
  return (
    <>
      <StepLine step={of.step} seconds={of.time} />
      <Rows
        rows={[
          ['max', value(of.max)],
          ['mean', value(of.mean)],
          ['std', value(of.std)],
          ['min', value(of.min)],
          ['zeros', integer(of.zeros)],
          ['values', integer(of.count)],
        ]}
      />
      <BadLines of={of} />
    </>
  );
}
