import { lastStepOf } from '../headline';
import { integer, middle } from '../ui/format';
import { Cell, TableFrame } from './TableFrame';
import type { GroupSpec } from './build';
import { groupRow, reached } from './group_rows';
import { useValues } from './values';

const kMost = 1000; // series that the server accepts at once

// One row per group: means over its runs.
export function GroupTable({ title, groups, weight }: { title: string; groups: readonly GroupSpec[]; weight: number }) {
  const series = groups.flatMap(({ tag, runs }) => runs.map((run) => ({ run, tag }))).slice(0, kMost);
  const values = useValues(series, weight);
  const { rows, range, step } = values;
  const found = new Map(rows?.map((row) => [`${row.run}\n${row.tag}`, row]));
  const last = weight > 0 ? ['smoothed'] : [];
  const columns = range
    ? ['group', 'min', 'max', 'mean', 'delta', 'value', ...last, 'runs']
    : ['group', 'mean', ...last, '± std', 'min', 'max', 'runs'];
  return (
    <TableFrame title={title} values={values} columns={columns}>
      {groups.map((group) => {
        const own = group.runs.flatMap((run) => found.get(`${run}\n${group.tag}`) ?? []).filter((row) => row.count > 0);
        const row = groupRow(range ? own : reached(own, lastStepOf, step));
        return (
          <tr key={`${group.label}\n${group.tag}`}>
            <th scope="row" title={group.label}>
              <span class="swatch" style={{ background: group.color }} />
              {middle(group.label, range ? 12 : 20)}
            </th>
            {range ? (
              <>
                <Cell of={row?.min} />
                <Cell of={row?.max} />
                <Cell of={row?.mean} />
                <Cell of={row?.delta} />
                <Cell of={row?.value} />
              </>
            ) : (
              <Cell of={row?.value} />
            )}
            {weight > 0 && <Cell of={row?.smoothed} />}
            {!range && (
              <>
                <Cell of={row?.std} />
                <Cell of={row?.min} />
                <Cell of={row?.max} />
              </>
            )}
            <td class="num">{row ? integer(row.runs) : ''}</td>
          </tr>
        );
      })}
    </TableFrame>
  );
}
