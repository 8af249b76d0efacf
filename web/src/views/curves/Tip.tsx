import { integer, middle, value } from '../../ui/format';
import type { Line } from './draw';
import type { Point } from './model';

const kMost = 12; // rows: more do not fit next to the pointer

// The point of each curve that is nearest to the pointer.
export function Tip({ lines, points }: { lines: readonly Line[]; points: readonly (Point | null)[] }) {
  const rows = lines.flatMap(({ run, colour }, i) => (points[i] ? [{ run, colour, point: points[i] }] : []));
  return (
    <table>
      <thead>
        <tr>
          <th scope="col">run</th>
          {['threshold', 'precision', 'recall', 'TP', 'FP', 'TN', 'FN'].map((name) => (
            <th key={name} scope="col" class="num">
              {name}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.slice(0, kMost).map(({ run, colour, point }) => (
          <tr key={run}>
            <th scope="row">
              <span class="swatch" style={{ background: colour }} />
              {middle(run, 24)}
            </th>
            {[point.threshold, point.precision, point.recall].map((number, i) => (
              <td key={i} class="num">
                {value(number, 3)}
              </td>
            ))}
            {[point.tp, point.fp, point.tn, point.fn].map((count, i) => (
              <td key={i} class="num">
                {Number.isInteger(count) ? integer(count) : value(count)}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}
