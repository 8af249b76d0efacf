import { colorOf, cursorStep, setCursor } from '../../state';
import { integer, middle, plural, value } from '../../ui/format';
import { areaOf, bestF1, f1Of } from './model';
import type { RunCurve } from './useCurves';

// The run, step and quality of each curve.
export function Legend({ label, curves }: { label: string; curves: readonly RunCurve[] }) {
  return (
    <div class="curves-legend" tabIndex={0} role="region" aria-label={`Curves of ${label}`}>
      <table>
        <thead>
          <tr>
            <th scope="col">run</th>
            <th scope="col" class="num">
              step
            </th>
            <th scope="col" class="num" title="Average precision: the area under the curve, with the precision of each threshold for its gain in recall">
              area
            </th>
            <th scope="col" class="num" title="The largest F1, the harmonic mean of precision and recall, and the threshold that has it">
              best F1
            </th>
          </tr>
        </thead>
        <tbody>
          {curves.map((curve) => (
            <Row key={curve.run} curve={curve} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Row({ curve: { run, step, points } }: { curve: RunCurve }) {
  const best = bestF1(points);
  const exact = step === cursorStep.value;
  return (
    <tr>
      <th scope="row" title={run}>
        <span class="swatch" style={{ background: colorOf(run) }} />
        {middle(run, 32)}
      </th>
      <td class="num">
        <button
          type="button"
          class={`curves-at ${exact ? 'curves-exact' : ''}`}
          aria-label={`Step ${integer(step)}. ${words(step)}`}
          title={words(step)}
          onClick={() => setCursor(step)}
        >
          <i class="curves-dot" />
          {integer(step)}
        </button>
      </td>
      <td class="num">{points.length > 0 ? value(areaOf(points)) : <span class="muted">no positive prediction</span>}</td>
      <td class="num">
        {best && value(f1Of(best), 3)} <span class="muted">{best && `@ ${value(best.threshold, 3)}`}</span>
      </td>
    </tr>
  );
}

function words(step: number): string {
  const away = cursorStep.value - step;
  if (away === 0) return 'Recorded at this step';
  return away > 0 ? `Recorded ${plural(away, 'step')} before the cursor; click to go there` : 'The first one comes after the cursor; click to go there';
}
