import { num } from '../../api';
import type { Run, TableRow } from '../../api_types';
import { isSelected, toggled } from '../../selection';
import { badWord, colorOf, selection } from '../../state';
import { IconButton } from '../../ui/IconButton';
import { badClass, integer, middle, value } from '../../ui/format';
import { Note } from './Note';
import type { MetricColumn } from './RunsTable';

export interface RunLineProps {
  run: Run;
  label: string; // its name, shortened
  columns: readonly MetricColumn[];
  values: ReadonlyMap<string, TableRow>;
  hparams: readonly string[];
  mayWrite: boolean;
  onArm: () => void;
  onDelete: () => void;
}

function State({ run }: { run: Run }) {
  if (run.first_bad_step !== null) return <span class={badWord(run) === 'Inf' ? 'inf' : 'bad'}>{`${badWord(run)} @ ${integer(run.first_bad_step)}`}</span>;
  return <span class={run.state === 'died' ? 'bad' : run.state === 'live' ? 'state-live' : ''}>{run.state}</span>;
}

const cell = (found: number | string | boolean | undefined) =>
  found === undefined ? '' : typeof found === 'number' ? value(found) : middle(String(found), 20);

export function RunLine(props: RunLineProps) {
  const { run } = props;
  const shown = isSelected(selection.value, run.run);
  return (
    <tr class={shown ? '' : 'run-hidden'} data-run-row={run.run}>
      <th scope="row" title={run.run}>
        <span class="swatch" style={{ background: colorOf(run.run) }} />
        {props.label}
      </th>
      <td>
        <State run={run} />
        {run.first_bad_step !== null && <span class="muted"> · {run.state}</span>}
      </td>
      <td class="num">{run.last_step === null ? '' : integer(run.last_step)}</td>
      <td class="num">{value(run.steps_per_second, 3)}</td>
      {props.columns.map(({ tag, better }) => {
        const row = props.values.get(`${run.run}\n${tag}`);
        const last = row && row.count > 0 ? num(row.last) : null;
        const best = row && row.count > 0 ? num(better === 'smaller' ? row.min : row.max) : null;
        const at = row ? integer(better === 'smaller' ? row.min_step : row.max_step) : '';
        return (
          <td key={tag} class="num">
            <span class={badClass(last)}>{value(last)}</span>
            {better && (
              <span class="muted best" title={at && `at step ${at}`}>
                {value(best)}
              </span>
            )}
          </td>
        );
      })}
      {props.hparams.map((name) => (
        <td key={name} class="num" title={run.hparams[name] === undefined ? '' : String(run.hparams[name])}>
          {cell(run.hparams[name])}
        </td>
      ))}
      <td class="note-cell">
        <Note run={run} mayWrite={props.mayWrite} />
      </td>
      <td class="row-actions">
        <IconButton
          icon={shown ? 'eye' : 'eyeOff'}
          label={shown ? `Hide ${run.run}` : `Show ${run.run}`}
          onClick={() => (selection.value = toggled(selection.peek(), [run.run], !shown))}
        />
        {run.state === 'live' && (
          <IconButton icon="target" label={`Arm a trigger in ${run.run}`} onClick={props.onArm} />
        )}
        <IconButton icon="trash" label={`Delete ${run.run}`} onClick={props.onDelete} />
      </td>
    </tr>
  );
}
