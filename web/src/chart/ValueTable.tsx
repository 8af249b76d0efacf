import { integer, middles } from '../ui/format';
import { Cell, TableFrame } from './TableFrame';
import type { LineSpec } from './build';
import { useValues } from './values';

const kMost = 200;
const kOfRange = ['min', 'max', 'mean', 'delta', 'points'];

// One row per line: the columns about a range come first, since a small card has no room for all.
export function ValueTable({ title, lines, weight }: { title: string; lines: readonly LineSpec[]; weight: number }) {
  const shown = lines.slice(0, kMost);
  const values = useValues(shown, weight);
  const { rows, range } = values;
  const names = middles(
    shown.map(({ short, label }) => short ?? label),
    range ? 12 : 20,
  );
  const last = weight > 0 ? ['value', 'smoothed'] : ['value'];
  const columns = range ? ['run', ...kOfRange, ...last] : ['run', ...last, 'at step'];
  return (
    <TableFrame title={title} values={values} columns={columns}>
      {shown.map((line, i) => {
        const found = rows?.[i];
        const row = found && found.run === line.run && found.tag === line.tag && found.count > 0 ? found : null;
        return (
          <tr key={line.id}>
            <th scope="row" title={line.label}>
              <span class="swatch" style={{ background: line.color }} />
              {names[i]}
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
            {weight > 0 && <Cell of={row?.smoothed} />}
            {!range && <td class="num">{row ? integer(row.step) : ''}</td>}
          </tr>
        );
      })}
    </TableFrame>
  );
}
