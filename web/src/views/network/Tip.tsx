// The numbers under the pointer, or under the cell cursor.
import { useEffect, useState } from 'preact/hooks';

import { num } from '../../api';
import { beside } from '../../ui/beside';
import { integer, middle, value } from '../../ui/format';
import { askCell, type CellAnswer } from './api';
import { type Source, worstMember } from './cells';
import type { Place } from './Map';
import { kDigits, shapeText } from './numbers';
import type { Row } from './rows';
import { cellAt } from './frame';
import { pooled } from './statistics';

export interface TipProps {
  source: Source;
  row: Row;
  step: number;
  range: readonly [number, number]; // the steps of the cell
  level: number;
  at: Place | null; // null: the cell cursor
}

const kRest = 40; // ms that the pointer rests before the server is asked
const kMostMembers = 64;

interface Shown {
  key: string;
  a: CellAnswer[];
  b: CellAnswer[];
  error: string | null;
}

// The answers for a row: one, or those of the members of a module.
function useCells({ source, row, step, range }: TipProps): Shown | null {
  const [shown, setShown] = useState<Shown | null>(null);
  const members = row.tensors.slice(0, kMostMembers);
  const key = JSON.stringify([source.a.run, source.b?.run, source.info.id, row.id, step, range]);
  useEffect(() => {
    const controller = new AbortController();
    const ask = (run: string) =>
      Promise.all(
        members.map(({ tag }) =>
          askCell({ run, tag, statistic: source.info.statistic, first: range[0], last: range[1], step: Math.max(range[0], Math.min(range[1], step)) }, controller.signal),
        ),
      );
    const timer = setTimeout(async () => {
      try {
        const [a, b] = await Promise.all([ask(source.a.run), source.b ? ask(source.b.run) : []]);
        if (!controller.signal.aborted) setShown({ key, a, b, error: null });
      } catch (error) {
        if (!controller.signal.aborted) setShown({ key, a: [], b: [], error: error instanceof Error ? error.message : String(error) });
      }
    }, kRest);
    return () => {
      clearTimeout(timer);
      controller.abort();
    };
  }, [key]);
  return shown?.key === key ? shown : null;
}

// The statistic of a row at the recorded step.
export function valueAt(source: Source, row: Row, answers: readonly CellAnswer[], of: (one: CellAnswer) => number): number {
  const factor = source.info.factor ?? 1;
  if (!row.group) return answers[0] ? of(answers[0]) * factor : NaN;
  return pooled(source.info.pool, answers.map((one) => of(one) * factor), answers.map((one) => one.count), source.info.id === 'l2');
}

export function Tip(props: TipProps) {
  const { source, row, range, at } = props;
  const shown = useCells(props);
  const show = (x: number) => (Number.isNaN(x) ? '–' : value(x, kDigits));
  const worst = row.group ? worstMember(source, row, props.level, cellAt(props.step, props.level)) : null;
  const first = shown?.a[0];
  const several = range[1] > range[0];
  const lines: [string, string][] = [];
  if (shown && first) {
    const now = valueAt(source, row, shown.a, (one) => num(one.value));
    if (source.b) {
      const other = valueAt(source, row, shown.b, (one) => num(one.value));
      lines.push([source.a.run, show(now)], [source.b.run, show(other)], ['difference', show(other - now)]);
    } else lines.push([source.info.label, show(now)]);
    if (several && !row.group && first.steps > 0) {
      const factor = source.info.factor ?? 1;
      const [low, mean, high] = [first.lowest, first.average, first.highest].map((one) => show(num(one) * factor));
      lines.push([`${integer(first.steps)} recorded steps`, `${low} … ${high}, mean ${mean}`]);
    }
    const nan = shown.a.reduce((sum, one) => sum + one.nan, 0);
    const infinite = shown.a.reduce((sum, one) => sum + one.positive_infinity + one.negative_infinity, 0);
    if (nan > 0) lines.push(['NaN', integer(nan)]);
    if (infinite > 0) lines.push(['Inf', integer(infinite)]);
    const bad = Math.max(...shown.a.map((one) => Math.max(one.nan_steps, one.infinite_steps)));
    if (several && bad > 0) lines.push(['not finite at', `${integer(bad)} of ${integer(first.steps)} steps`]);
  }
  return (
    <div
      class={`net-tip ${at ? '' : 'net-tip-here'}`}
      role={at ? 'tooltip' : 'status'}
      style={at ? beside(at.x, at.y) : {}}
      data-tag={row.tensors[0]?.tag}
      data-step={first?.step}
      data-value={first && !row.group ? String(first.value) : undefined}
    >
      <p class="net-tip-name">{middle(row.group ? `${row.label} · ${row.tensors.length} tensors` : row.label, 60)}</p>
      <p class="muted">
        {first ? `step ${integer(first.step)}` : `step ${integer(props.step)}`}
        {several && `, cell ${integer(range[0])} to ${integer(range[1])}`}
        {first && !row.group && ` · ${first.dtype} ${middle(shapeText(first.shape), 40)}`}
      </p>
      <table>
        <tbody>
          {lines.map(([name, text]) => (
            <tr key={name}>
              <th class={name === 'NaN' ? 'net-nan' : name === 'Inf' ? 'net-inf' : ''}>{middle(name, 40)}</th>
              <td>{text}</td>
            </tr>
          ))}
          {worst && (
            <tr>
              <th>worst</th>
              <td>{middle(worst, 48)}</td>
            </tr>
          )}
        </tbody>
      </table>
      {!shown && <p class="muted">…</p>}
      {shown?.error && <p class="muted">{middle(shown.error, 120)}</p>}
    </div>
  );
}
