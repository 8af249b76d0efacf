// For tensors that were recorded without histograms: smallest, mean and largest value over the steps.
import { useMemo } from 'preact/hooks';

import { integer, value } from '../../ui/format';
import { Chart } from './Chart';
import { stepAt } from './model';
import { describe, lazily } from './panel_parts';
import type { Input } from './plot';
import { type Range, ranges as plotRanges } from './ranges';
import { BadLines, Rows, StepLine } from './Tip';

export function RangePanel({ input, all, onDrawn }: { input: Input; all: Range[]; onDrawn: () => void }) {
  const colour = input.series[0]?.colour ?? '';
  const plot = useMemo(() => {
    const finite = all.filter((one) => Number.isFinite(one.min) && Number.isFinite(one.max));
    const low = Math.min(...finite.map((one) => one.min));
    const high = Math.max(...finite.map((one) => one.max));
    const size = finite.map((one) => Math.abs(one.mean) + one.std).sort((a, b) => a - b)[finite.length >> 1] || 1;
    const domain = finite.length > 0 ? { low, high, threshold: size / 100 } : null;
    return lazily(() => plotRanges({ ...input, domain }, all, colour));
  }, [input, all, colour]);
  const tip = (of: Range | undefined) => of && <RangeTip of={of} />;
  return (
    <>
      <Chart
        label={describe('Smallest, mean and largest value', input, all.length)}
        width={input.width}
        height={input.height}
        plot={plot}
        onDrawn={onDrawn}
        tip={(hit) => tip(all[hit.index])}
        current={(step) => tip(all[stepAt(all, step)])}
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
