// What is under the pointer: step, bin with its edges, count; percentiles for bands.
import { integer, time, value } from '../../ui/format';
import { type Distribution, kPercentiles, percentiles } from './model';

export interface TipProps {
  run: { run: string; colour: string } | null; // if a chart has several
  of: Distribution;
  bin: number;
  withPercentiles: boolean;
}

export function Tip({ run, of, bin, withPercentiles }: TipProps) {
  return (
    <>
      {run && (
        <div class="dist-tip-run">
          <i class="dist-swatch" style={{ background: run.colour }} />
          {run.run}
        </div>
      )}
      <StepLine step={of.step} seconds={of.time} />
      {withPercentiles ? <Percentiles of={of} /> : <Bin of={of} bin={bin} />}
      <BadLines of={of} />
    </>
  );
}

export function StepLine({ step, seconds }: { step: number; seconds: number }) {
  return (
    <div>
      <b>step {integer(step)}</b> <span class="muted">{time(seconds)}</span>
    </div>
  );
}

export function BadLines({ of }: { of: { nan: number; positiveInfinity: number; negativeInfinity: number } }) {
  return (
    <>
      {of.nan > 0 && <div class="dist-nan">NaN {integer(of.nan)}</div>}
      {of.positiveInfinity > 0 && <div class="dist-inf">+Inf {integer(of.positiveInfinity)}</div>}
      {of.negativeInfinity > 0 && <div class="dist-inf">−Inf {integer(of.negativeInfinity)}</div>}
    </>
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
  const rows = kPercentiles.map((percent, i): [string, string] => [`${percent} %`, value(values[i]!)]).reverse();
  return <Rows rows={[...rows, ['values', count(of.total)]]} />;
}

export function Rows({ rows }: { rows: [string, string][] }) {
  return (
    <table class="dist-tip-table">
      <tbody>
        {rows.map(([name, text]) => (
          <tr key={name}>
            <th scope="row">{name}</th>
            <td>{text}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
