import { colorOf, cursorStep, setCursor } from '../../state';
import { integer, middle } from '../../ui/format';
import type { RunSteps } from './useSteps';

// The run and the step: a full dot if it was recorded at exactly the cursor's step.
export function RunCaption({ of }: { of: RunSteps }) {
  const { shown, run } = of;
  const away = shown ? cursorStep.value - shown.step : 0;
  const words = shown?.exact
    ? 'Recorded at this step'
    : away > 0
      ? `Recorded ${integer(away)} steps before the cursor; click to go there`
      : 'The first one comes after the cursor; click to go there';
  return (
    <figcaption class="media-caption">
      <i class="media-swatch" style={{ background: colorOf(run) }} />
      <span class="media-run" title={run}>
        {middle(run, 30)}
      </span>
      {shown && (
        <button
          type="button"
          class={`media-at ${shown.exact ? 'media-exact' : ''}`}
          title={words}
          aria-label={`Step ${integer(shown.step)}. ${words}`}
          onClick={() => setCursor(shown.step)}
        >
          <i class="media-dot" />
          {integer(shown.step)}
        </button>
      )}
    </figcaption>
  );
}
