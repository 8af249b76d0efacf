import { middle } from '../../ui/format';
import { cellText } from './cells';
import type { Trials } from './useTrials';

export interface At {
  x: number; // in the window
  y: number;
}

// The trial that the pointer is at, and what it has on every axis.
export function Tip({ trials, trial, at }: { trials: Trials; trial: number; at: At }) {
  return (
    <div class="trials-tip" role="tooltip" style={besides(at)}>
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

// On the side of the pointer that has more room.
function besides({ x, y }: At): Record<string, string> {
  const leftHalf = x < window.innerWidth / 2;
  const topHalf = y < window.innerHeight / 2;
  return {
    left: leftHalf ? `${x + 16}px` : 'auto',
    right: leftHalf ? 'auto' : `${window.innerWidth - x + 16}px`,
    top: topHalf ? `${y + 12}px` : 'auto',
    bottom: topHalf ? 'auto' : `${window.innerHeight - y + 12}px`,
  };
}
