import * as api from '../api';
import type { TableRow } from '../api_types';
import { change } from '../live';
import { colorOf, cursorStep, smooth } from '../state';
import { useAsked, useThrottled } from '../ui/hooks';
import { integer, middle, value } from '../ui/format';
import type { LineSpec } from './build';
import { selectRange, selected } from './settings';

const kMost = 200;

function Cell({ of }: { of: TableRow[keyof TableRow] | null | undefined }) {
  if (of === null || of === undefined) return <td class="num" />;
  const x = api.num(of as number);
  return <td class={`num ${Number.isFinite(x) ? '' : 'bad'}`}>{value(x)}</td>;
}

// Numbers at the step cursor, or over the range that was marked: what is about the range comes first, since a small card
// has no room for all.
export function ValueTable({ title, lines }: { title: string; lines: LineSpec[] }) {
  const range = selected.value;
  const step = useThrottled(cursorStep.value, 80);
  const series = lines.slice(0, kMost).map(({ run, tag }) => ({ run, tag }));
  const weight = smooth.value > 0 ? { smooth: smooth.value } : {};
  const question = range ? { series, range, ...weight } : { series, step, ...weight };
  const key = series.length > 0 ? JSON.stringify([question, change.value.serial]) : null;
  const { value: rows, error } = useAsked(key, (signal) => api.table(question, signal));
  const what = range ? `steps ${integer(range[0])} to ${integer(range[1])}` : `step ${integer(cursorStep.value)}`;
  return (
    <div class="value-table" role="region" aria-label={`Values of ${title}, ${what}`} tabIndex={0}>
      <table>
        <caption>
          {what}
          {range && (
            <button type="button" class="link-button" onClick={() => selectRange(null)}>
              clear
            </button>
          )}
          {error && <span class="bad"> {error}</span>}
        </caption>
        <thead>
          <tr>
            <th scope="col">run</th>
            {range && ['min', 'max', 'mean', 'delta', 'points'].map((name) => <th scope="col" key={name}>{name}</th>)}
            <th scope="col">value</th>
            {smooth.value > 0 && <th scope="col">smoothed</th>}
            {!range && <th scope="col">at step</th>}
          </tr>
        </thead>
        <tbody>
          {lines.slice(0, kMost).map((line, i) => {
            const found = rows?.[i];
            const row = found && found.run === line.run && found.tag === line.tag && found.count > 0 ? found : null;
            return (
              <tr key={line.id}>
                <th scope="row" title={line.label}>
                  <span class="swatch" style={{ background: colorOf(line.run) }} />
                  {middle(line.label, range ? 12 : 20)}
                </th>
                {range && (
                  <>
                    <Cell of={row?.min} />
                    <Cell of={row?.max} />
                    <Cell of={row?.mean} />
                    <Cell of={row?.delta} />
                    <td class="num">{row ? integer(row.count) : ''}</td>
                  </>
                )}
                <Cell of={row?.value} />
                {smooth.value > 0 && <Cell of={row?.smoothed} />}
                {!range && <td class="num">{row ? integer(row.step) : ''}</td>}
              </tr>
            );
          })}
        </tbody>
      </table>
    </div>
  );
}
