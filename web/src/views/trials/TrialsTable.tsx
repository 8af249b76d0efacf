import { useMemo, useState } from 'preact/hooks';

import { colorOf } from '../../state';
import { integer, middle, plural } from '../../ui/format';
import { cellText, isBad } from './cells';
import type { Column } from './columns';
import { hovered, sortBy } from './settings';
import type { Trials } from './useTrials';

const kPortion = 50;

// The selected trials, sorted by any column.
export function TrialsTable({ trials }: { trials: Trials }) {
  const [most, setMost] = useState(kPortion);
  const { order, kept, names } = trials;
  const rows = useMemo(() => {
    const found: number[] = [];
    for (const row of order) {
      if (kept[row]) found.push(row);
      if (found.length === most) break;
    }
    return found;
  }, [order, kept, most]);
  const columns = trials.axes.map((axis) => axis.column);
  return (
    <section class="card trials-table" aria-label="Table of trials">
      <header class="card-head">
        <h3 class="card-title">Table</h3>
        <span class="card-subtitle">{plural(trials.keptCount, 'trial')}</span>
      </header>
      <div class="trials-scroll" tabIndex={0} role="region" aria-label="Values of the trials" onPointerLeave={() => (hovered.value = null)}>
        <table>
          <thead>
            <tr>
              <Head id="" name="run" number={false} />
              {columns.map((column) => (
                <Head key={column.id} id={column.id} name={column.name} number={!column.text} />
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map((row) => (
              <Row key={names[row]} name={names[row]!} row={row} columns={columns} colour={trials.colours[row]!} />
            ))}
          </tbody>
        </table>
      </div>
      {trials.keptCount > rows.length && (
        <button type="button" class="link-button trials-more" onClick={() => setMost(most + 4 * kPortion)}>
          {integer(rows.length)} of {plural(trials.keptCount, 'trial')}: show more
        </button>
      )}
    </section>
  );
}

// The first click sorts ascending, the next descending, and so on.
function Head({ id, name, number }: { id: string; name: string; number: boolean }) {
  const sorted = sortBy.value.replace(/^-/, '') === id;
  const down = sorted && sortBy.value.startsWith('-');
  return (
    <th scope="col" class={number ? 'num' : ''} aria-sort={sorted ? (down ? 'descending' : 'ascending') : 'none'}>
      <button type="button" title={`Sort by ${name}`} onClick={() => (sortBy.value = sorted && !down ? `-${id}` : id)}>
        {middle(name, 24)} <span aria-hidden="true">{sorted ? (down ? '▼' : '▲') : ''}</span>
      </button>
    </th>
  );
}

function Row({ name, row, columns, colour }: { name: string; row: number; columns: readonly Column[]; colour: string }) {
  return (
    <tr class={hovered.value === name ? 'trials-marked' : ''} data-trial={name} onPointerEnter={() => (hovered.value = name)}>
      <th scope="row" title={name}>
        <span class="swatch" style={{ background: colorOf(name) }} />
        <i class="trials-dot" style={{ background: colour }} />
        {middle(name, 40)}
      </th>
      {columns.map((column) => {
        const cell = column.cells[row] ?? null;
        return (
          <td key={column.id} class={`${column.text ? '' : 'num'} ${isBad(cell) ? 'bad' : ''}`} title={cell === null ? '' : String(cell)}>
            {cellText(cell)}
          </td>
        );
      })}
    </tr>
  );
}
