import type { ReadonlySignal } from '@preact/signals';
import type { RefObject } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';

import { integer, middle, short, time, value } from '../ui/format';
import type { Tip } from './tooltip';

const kMost = 14;

export interface TooltipProps {
  tip: ReadonlySignal<Tip | null>; // a signal: the chart itself need not be made anew when the pointer moves
  chart: RefObject<HTMLElement | null>;
}

const kAway = 16;

// Beside the pointer on the side that has room, and never beyond the window.
function place(box: HTMLElement, chart: HTMLElement, x: number): void {
  const frame = chart.getBoundingClientRect();
  const at = frame.left + x;
  const wanted = at + kAway + box.offsetWidth < window.innerWidth - 8 ? at + kAway : at - kAway - box.offsetWidth;
  box.style.left = `${Math.max(8, wanted)}px`;
  box.style.top = `${Math.max(8, Math.min(frame.top + 8, window.innerHeight - box.offsetHeight - 8))}px`;
}

export function TooltipBox({ tip, chart }: TooltipProps) {
  const box = useRef<HTMLDivElement>(null);
  const rows = tip.value?.rows ?? [];
  const x = tip.value?.x ?? 0;
  useLayoutEffect(() => {
    if (box.current && chart.current) place(box.current, chart.current, x);
  });
  const shown = rows.slice(0, kMost);
  const first = rows[0];
  if (!first) return null;
  return (
    <div class="tooltip" ref={box} role="status">
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
