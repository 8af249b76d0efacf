import type { Run } from '../api_types';
import { isSelected, solo, toggled, everything } from '../selection';
import { badWord, colorOf, lit, ownColors, selection } from '../state';
import { IconButton } from '../ui/IconButton';
import { integer, middle, plural } from '../ui/format';

// One word: the most important fact about the run.
export function stateWord(run: Run): { text: string; look: '' | 'bad' | 'inf' } {
  if (run.first_bad_step !== null) {
    const word = badWord(run);
    return { text: `${word} @ ${integer(run.first_bad_step)}`, look: word === 'Inf' ? 'inf' : 'bad' };
  }
  const step = run.last_step === null ? '' : integer(run.last_step);
  if (run.state === 'died') return { text: `died @ ${step}`, look: 'bad' };
  if (run.damaged > 0) return { text: `damage · ${step}`, look: 'bad' };
  return { text: run.read ? step : 'reading', look: '' };
}

function describe(run: Run): string {
  const parts = [run.run, run.state];
  if (run.last_step !== null) parts.push(`last step ${integer(run.last_step)}`);
  parts.push(plural(run.points, 'point'));
  if (run.note) parts.push(run.note);
  return parts.join('\n');
}

export function RunRow(props: { run: Run; label: string; depth: number }) {
  const { run } = props;
  const shown = isSelected(selection.value, run.run);
  const word = stateWord(run);
  const alone = selection.value.only && selection.value.names.size === 1 && shown;
  const color = colorOf(run.run);
  return (
    <div
      class={`run-row ${shown ? '' : 'run-hidden'} ${lit.value === run.run ? 'run-lit' : ''}`}
      data-run={run.run}
      data-state={run.state}
      style={{ paddingLeft: `${12 + 14 * props.depth}px` }}
      onPointerEnter={() => (lit.value = run.run)}
      onPointerLeave={() => (lit.value = null)}
    >
      <label class="run-color" title="Choose a colour">
        <span class="swatch" style={{ background: color }} />
        <input
          type="color"
          class="visually-hidden"
          aria-label={`Colour of ${run.run}`}
          value={color}
          onInput={(event) => (ownColors.value = { ...ownColors.peek(), [run.run]: event.currentTarget.value })}
        />
      </label>
      <button
        type="button"
        class="run-name"
        aria-pressed={shown}
        aria-label={`Show ${run.run}`}
        title={describe(run)}
        onClick={() => (selection.value = toggled(selection.peek(), [run.run], !shown))}
      >
        {run.state === 'live' && <span class="live-dot" title="live" />}
        {middle(props.label, 26 - 2 * props.depth)}
      </button>
      <span class={`run-word ${word.look}`}>{word.text}</span>
      <IconButton
        class="run-solo"
        icon="solo"
        label={alone ? 'Show all runs' : `Show only ${run.run}`}
        pressed={alone}
        onClick={() => (selection.value = alone ? everything : solo([run.run]))}
      />
    </div>
  );
}
