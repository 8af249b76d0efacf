// How a tensor grew before the fault: its root mean square and largest magnitude at each saved step.
import * as api from '../../api';
import type { Capture, GrowthStep } from '../../api_types';
import { integer, middle, value } from '../../ui/format';
import { useAsked } from '../../ui/hooks';
import { Failure } from '../../ui/states';
import { grownFold, magnitudeOf } from './capture';

const kWidth = 640;
const kHeight = 120;
const kLeft = 56;
const kBottom = 18;
const kTop = 8;

interface Line {
  name: string;
  kind: string;
  of: (step: GrowthStep) => number;
}
const kLines: Line[] = [
  { name: 'largest magnitude', kind: 'growth-peak', of: magnitudeOf },
  { name: 'root mean square', kind: 'growth-rms', of: (step) => api.num(step.rms) },
];

// Decades of all positive values; none: nothing can be drawn.
function decades(steps: readonly GrowthStep[]): [number, number] | null {
  const logs = steps
    .flatMap((step) => kLines.map((line) => line.of(step)))
    .filter((x) => x > 0 && Number.isFinite(x))
    .map(Math.log10);
  if (logs.length === 0) return null;
  const [least, most] = [Math.floor(Math.min(...logs)), Math.ceil(Math.max(...logs))];
  return [least, most > least ? most : least + 1];
}

function Picture({ steps, trigger }: { steps: readonly GrowthStep[]; trigger: number }) {
  const range = decades(steps);
  const x = (i: number) => kLeft + ((i + 0.5) * (kWidth - kLeft)) / steps.length;
  const bottom = kHeight - kBottom;
  const y = (of: number) => {
    const [least, most] = range ?? [0, 1];
    return bottom - ((Math.log10(of) - least) / (most - least)) * (bottom - kTop);
  };
  const every = Math.max(1, Math.ceil(steps.length / 10));
  return (
    <svg class="growth" viewBox={`0 0 ${kWidth} ${kHeight}`} role="img" aria-label="Growth before the fault">
      {range &&
        range.map((decade) => (
          <g key={decade}>
            <line class="growth-grid" x1={kLeft} x2={kWidth} y1={y(10 ** decade)} y2={y(10 ** decade)} />
            <text class="growth-label" x={kLeft - 6} y={y(10 ** decade) + 4} text-anchor="end">
              1e{decade}
            </text>
          </g>
        ))}
      {steps.map((step, i) => (
        <g key={i}>
          {step.nan + step.positive_infinity + step.negative_infinity > 0 && (
            <rect class="growth-bad" x={x(i) - (kWidth - kLeft) / steps.length / 2} y={kTop} width={(kWidth - kLeft) / steps.length} height={bottom - kTop} />
          )}
          {(i % every === 0 || step.step === trigger) && (
            <text class={`growth-label ${step.step === trigger ? 'growth-trigger' : ''}`} x={x(i)} y={kHeight - 4} text-anchor="middle">
              {integer(step.step)}
            </text>
          )}
        </g>
      ))}
      {kLines.map((line) => {
        const points = steps
          .map((step, i) => ({ i, step: step.step, at: line.of(step) }))
          .filter(({ at }) => at > 0 && Number.isFinite(at));
        return (
          <g key={line.kind} class={line.kind}>
            <polyline points={points.map(({ i, at }) => `${x(i)},${y(at)}`).join(' ')} />
            {points.map(({ i, step, at }) => (
              <circle key={i} cx={x(i)} cy={y(at)} r={3}>
                <title>{`step ${integer(step)}: ${line.name} ${value(at)}`}</title>
              </circle>
            ))}
          </g>
        );
      })}
    </svg>
  );
}

export function Growth(props: { run: string; name: string; capture: Capture; tensor: string }) {
  const { run, name, capture, tensor } = props;
  const { value: found, error } = useAsked(JSON.stringify([run, name, tensor]), (signal) =>
    api.growth(run, name, tensor, signal),
  );
  const steps = found?.key === tensor ? found.steps.filter((step) => !step.evaluation) : [];
  const fold = grownFold(steps);
  return (
    <section class="capture-growth" aria-label={`Growth of ${tensor}`}>
      <h3>
        <span class="mono" title={tensor}>
          {middle(tensor, 60)}
        </span>{' '}
        <span class="muted">over the saved steps</span>
        <span class="growth-key">
          <span class="growth-peak">largest magnitude</span>
          <span class="growth-rms">root mean square</span>
          <span class="growth-bad-key">not finite</span>
        </span>
      </h3>
      {error && <Failure text={error} />}
      {found && steps.length === 0 && <p class="muted">The files of this capture do not hold its values.</p>}
      {steps.length > 0 && <Picture steps={steps} trigger={capture.step} />}
      {fold && (
        <p class="muted">
          {fold.from === fold.to
            ? `It did not grow before: its largest magnitude is ${value(fold.to)} from step ${integer(fold.first)} to ${integer(fold.last)}.`
            : `Its largest finite magnitude went from ${value(fold.from)} at step ${integer(fold.first)} to ${value(fold.to)} at step ${integer(fold.last)}`}
          {fold.to > fold.from && fold.from > 0 ? `, ${value(fold.to / fold.from, 3)} times as much` : ''}
          {fold.from === fold.to ? '' : '.'}
        </p>
      )}
    </section>
  );
}
