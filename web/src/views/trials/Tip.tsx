import { beside } from '../../ui/beside';
import { middle } from '../../ui/format';
import { cellText } from './cells';
import type { Trials } from './useTrials';

export interface At {
  x: number; // in the window
  y: number;
}

// The trial under the pointer, and its value on every axis.
export function Tip({ trials, trial, at }: { trials: Trials; trial: number; at: At }) {
  return (
    <div class="trials-tip" role="tooltip" style={beside(at.x, at.y)}>
      <b>{middle(trials.names[trial] ?? '', 40)}</b>
      <table>
        <tbody>
          {trials.axes.map(({ column }) => (
            <tr key={column.id}>
              <th scope="row">{middle(column.name, 24)}</th>
              <td class="num">{cellText(column.cells[trial] ?? null)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
