// Moves through the recorded steps of a card: it moves the cursor of the whole page, and follows it.
import { cursorStep, setCursor } from '../state';
import { integer } from './format';
import { IconButton } from './IconButton';
import { useRecorded } from './recorded';
import { shownAt } from './steps';

export function StepNav({ label, steps }: { label: string; steps: number[] }) {
  useRecorded(label, steps);
  const shown = shownAt(steps, cursorStep.value);
  if (!shown) return null;
  const go = (index: number): void => setCursor(steps[Math.min(steps.length - 1, Math.max(0, index))]!);
  const before = !shown.exact && cursorStep.value < shown.step; // the cursor is before the first
  return (
    <div class="step-nav">
      <IconButton icon="right" class="step-back" label={`Previous recorded step of ${label}`} disabled={shown.index === 0} onClick={() => go(shown.index - 1)} />
      <input
        type="range"
        aria-label={`Step of ${label}`}
        aria-valuetext={`step ${integer(shown.step)}, ${shown.index + 1} of ${steps.length}`}
        min={0}
        max={Math.max(0, steps.length - 1)}
        step={1}
        value={shown.index}
        disabled={steps.length < 2}
        onInput={(event) => go(Number(event.currentTarget.value))}
      />
      <IconButton
        icon="right"
        label={`Next recorded step of ${label}`}
        disabled={shown.index === steps.length - 1 && !before}
        onClick={() => go(before ? shown.index : shown.index + 1)}
      />
      <output class="step-at">
        {integer(shown.step)} <span class="muted">{`${integer(shown.index + 1)} / ${integer(steps.length)}`}</span>
      </output>
    </div>
  );
}
