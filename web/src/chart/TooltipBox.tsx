import type { ReadonlySignal } from '@preact/signals';
import type { RefObject } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';

import { duration, integer, middle, short, time, value } from '../ui/format';
import type { Tip, TooltipRow } from './tooltip';

const kMost = 14;

export interface TooltipProps {
  tip: ReadonlySignal<Tip | null>; // a signal: the chart itself need not be made anew when the pointer moves
  chart: RefObject<HTMLElement | null>;
}

const kAway = 16;

// Beside the pointer on the side of its own chart that has room, else of the window, and never beyond the window.
function place(box: HTMLElement, chart: HTMLElement, x: number): void {
  const frame = chart.getBoundingClientRect();
  const right = frame.left + x + kAway;
  const left = frame.left + x - kAway - box.offsetWidth;
  const fits = right + box.offsetWidth <= frame.right || (left < frame.left && right + box.offsetWidth < window.innerWidth - 8);
  box.style.left = `${Math.max(8, fits ? right : left)}px`;
  box.style.top = `${Math.max(8, Math.min(frame.top + 8, window.innerHeight - box.offsetHeight - 8))}px`;
}

function headOf({ axis, at, rows }: Tip): [string, string] {
  if (axis === 'wall') return [time(at), ''];
  if (axis === 'relative') return [duration(at) || '0', ''];
  const there = rows.find((row) => row.step === Math.round(at));
  return [`step ${integer(Math.round(at))}`, there ? time(there.time) : ''];
}

function Cells({ row, smoothed, means }: { row: TooltipRow; smoothed: boolean; means: boolean }) {
  const number = (x: number | null, muted = false) => (
    <td class={`num ${x !== null && !Number.isFinite(x) ? 'bad' : muted ? 'muted' : ''}`}>{value(x)}</td>
  );
  const bad = !Number.isFinite(row.value);
  return (
    <>
      {number(smoothed && !bad ? row.raw : row.value)}
      {smoothed && number(bad ? null : row.value)}
      {means && number(row.spread, true)}
    </>
  );
}

export function TooltipBox({ tip, chart }: TooltipProps) {
  const box = useRef<HTMLDivElement>(null);
  const shown = tip.value;
  useLayoutEffect(() => {
    if (box.current && chart.current && shown) place(box.current, chart.current, shown.x);
  });
  if (!shown || shown.rows.length === 0) return null;
  const { rows } = shown;
  const [head, beside] = headOf(shown);
  const smoothed = rows.some((row) => row.raw !== null);
  const means = rows.some((row) => row.spread !== null);
  const here = shown.axis === 'number' ? Math.round(shown.at) : NaN;
  return (
    <div class="tooltip" ref={box} role="status">
      <div class="tooltip-head">
        <span>{head}</span>
        <span class="muted">{beside}</span>
      </div>
      <table>
        {(smoothed || means) && (
          <thead>
            <tr class="muted">
              <td />
              <td />
              <th scope="col">{means ? 'mean' : 'value'}</th>
              {smoothed && <th scope="col">smoothed</th>}
              {means && <th scope="col">± std</th>}
              <td />
            </tr>
          </thead>
        )}
        <tbody>
          {rows.slice(0, kMost).map((row) => (
            <tr key={row.id} class={row.far ? 'far' : ''}>
              <td>
                <span class="swatch" style={{ background: row.color }} />
              </td>
              <td class="name">{middle(row.label, 30)}</td>
              <Cells row={row} smoothed={smoothed} means={means} />
              <td class="num muted">{row.step === here || Number.isNaN(row.step) ? '' : `@ ${short(row.step)}`}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {rows.length > kMost && <div class="muted">and {integer(rows.length - kMost)} more</div>}
    </div>
  );
}
