// What the pointer is at: step, bin with its edges, count; percentiles where there are bands.
import { integer, time, value } from '../../ui/format';
import { type Distribution, kPercentiles, percentiles, type Series } from './model';

export interface TipProps {
  x: number;
  y: number;
  width: number; // of the chart
  height: number;
  series: Series;
  of: Distribution;
  bin: number;
  withRun: boolean;
  withPercentiles: boolean;
}

export function Tip(props: TipProps) {
  const { of, bin, series } = props;
  const leftHalf = props.x < props.width / 2;
  const topHalf = props.y < props.height / 2;
  const place = {
    left: leftHalf ? `${props.x + 14}px` : 'auto',
    right: leftHalf ? 'auto' : `${props.width - props.x + 14}px`,
    top: topHalf ? `${props.y + 8}px` : 'auto',
    bottom: topHalf ? 'auto' : `${props.height - props.y + 8}px`,
  };
  return (
    <div class="dist-tip" role="tooltip" style={place}>
      {props.withRun && (
        <div class="dist-tip-run">
          <i class="dist-swatch" style={{ background: series.colour }} />
          {series.run}
        </div>
      )}
      <div class="dist-tip-step" title={time(of.time)}>
        step {integer(of.step)}
      </div>
      {props.withPercentiles ? <Percentiles of={of} /> : <Bin of={of} bin={bin} />}
      {of.nan > 0 && <div class="dist-nan">NaN {integer(of.nan)}</div>}
      {of.positiveInfinity > 0 && <div class="dist-inf">+Inf {integer(of.positiveInfinity)}</div>}
      {of.negativeInfinity > 0 && <div class="dist-inf">−Inf {integer(of.negativeInfinity)}</div>}
    </div>
  );
}

function Bin({ of, bin }: { of: Distribution; bin: number }) {
  if (bin < 0) return <div class="muted">{of.total > 0 ? `${count(of.total)} values, none here` : 'no finite values'}</div>;
  const left = of.left[bin]!;
  const right = of.right[bin]!;
  const n = of.count[bin]!;
  return (
    <>
      <div>{left === right ? `all equal to ${value(left, 5)}` : `${value(left, 5)} … ${value(right, 5)}`}</div>
      <div>
        <b>{count(n)}</b> of {count(of.total)} ({value((100 * n) / of.total, 3)} %)
      </div>
    </>
  );
}

// Some writers count in fractions.
const count = (n: number): string => (Number.isInteger(n) ? integer(n) : value(n, 4));

function Percentiles({ of }: { of: Distribution }) {
  if (of.total === 0) return <div class="muted">no finite values</div>;
  const values = percentiles(of);
  return (
    <table class="dist-tip-table">
      <tbody>
        {[...kPercentiles].reverse().map((percent) => (
          <tr key={percent}>
            <th scope="row">{percent} %</th>
            <td>{value(values[kPercentiles.indexOf(percent)]!)}</td>
          </tr>
        ))}
        <tr>
          <th scope="row">values</th>
          <td>{count(of.total)}</td>
        </tr>
      </tbody>
    </table>
  );
}
