import type { Run } from '../api_types';
import { isSelected, solo, toggled, everything } from '../selection';
import { badWord, colorOf, ownColors, selection } from '../state';
import { IconButton } from '../ui/IconButton';
import { integer, middle, plural } from '../ui/format';

// One word: the most important fact about the run.
export function stateWord(run: Run): { text: string; bad: boolean } {
  if (run.first_bad_step !== null) return { text: `${badWord(run)} @ ${integer(run.first_bad_step)}`, bad: true };
  const step = run.last_step === null ? '' : integer(run.last_step);
  if (run.state === 'died') return { text: `died @ ${step}`, bad: true };
  if (run.damaged > 0) return { text: `damage · ${step}`, bad: true };
  return { text: run.read ? step : 'reading', bad: false };
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
      class={`run-row ${shown ? '' : 'run-hidden'}`}
      data-run={run.run}
      data-state={run.state}
      style={{ paddingLeft: `${12 + 14 * props.depth}px` }}
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
      <span class={`run-word ${word.bad ? 'bad' : ''}`}>{word.text}</span>
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
