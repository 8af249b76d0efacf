import { integer, middle, short, time, value } from '../ui/format';
import type { TooltipRow } from './tooltip';

const kMost = 14;

export interface TooltipProps {
  rows: TooltipRow[];
  x: number; // pixels in the card
  width: number;
}

// Beside the pointer, on the side that has room.
export function TooltipBox(props: TooltipProps) {
  const { rows, x, width } = props;
  const right = x < width / 2;
  const place = right ? { left: `${x + 16}px` } : { right: `${width - x + 16}px` };
  const shown = rows.slice(0, kMost);
  const first = rows[0];
  if (!first) return null;
  return (
    <div class="tooltip" style={place} role="status">
      <div class="tooltip-head">
        <span>step {integer(first.step)}</span>
        <span class="muted">{Number.isFinite(first.time) ? time(first.time) : ''}</span>
      </div>
      <table>
        <tbody>
          {shown.map((row) => (
            <tr key={row.id} class={row.far ? 'far' : ''}>
              <td>
                <span class="swatch" style={{ background: row.color }} />
              </td>
              <td class="name">{middle(row.label, 30)}</td>
              <td class="num">{value(row.value)}</td>
              <td class="num muted">{row.raw === null ? '' : value(row.raw)}</td>
              <td class="num muted">{row.step === first.step ? '' : `@ ${short(row.step)}`}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {rows.length > kMost && <div class="muted">and {integer(rows.length - kMost)} more</div>}
    </div>
  );
}
