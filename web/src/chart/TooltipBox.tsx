import type { ReadonlySignal } from '@preact/signals';
import type { RefObject } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';

import { badClass, duration, integer, middles, time, value } from '../ui/format';
import type { Tip, TooltipRow } from './tooltip';

const kMost = 14;

export interface TooltipProps {
  tip: ReadonlySignal<Tip | null>; // a signal, so that the chart is not rendered again when the pointer moves
  chart: RefObject<HTMLElement | null>;
}

const kAway = 16;

// Next to the pointer, on the side of its chart that has room, else of the window, and never beyond the window.
function place(box: HTMLElement, chart: HTMLElement, x: number): void {
  const frame = chart.getBoundingClientRect();
  const right = frame.left + x + kAway;
  const left = frame.left + x - kAway - box.offsetWidth;
  const fits = right + box.offsetWidth <= frame.right || (left < frame.left && right + box.offsetWidth < window.innerWidth - 8);
  box.style.left = `${Math.max(8, fits ? right : left)}px`;
  box.style.top = `${Math.max(8, Math.min(frame.top + 8, window.innerHeight - box.offsetHeight - 8))}px`;
}

function headOf({ axis, at, rows, step }: Tip): [string, string] {
  if (axis === 'wall') return [time(at), ''];
  if (axis === 'relative') return [duration(at) || '0', ''];
  const there = rows.find((row) => row.steps?.[0] === step && !Number.isNaN(row.time));
  return [`step ${integer(step ?? Math.round(at))}`, there ? time(there.time) : ''];
}

// Shown if it differs from the step of the tooltip; on time axes always.
function stepOf({ steps }: TooltipRow, step: number | null): string {
  if (steps === null || (steps[0] === step && steps[1] === step)) return '';
  return `@ ${steps[0] === steps[1] ? '' : `${integer(steps[0])} to `}${integer(steps[1])}`;
}

function Cells({ row, smoothed, means }: { row: TooltipRow; smoothed: boolean; means: boolean }) {
  const number = (x: number | null, muted = false) => (
    <td class={`num ${badClass(x) || (muted ? 'muted' : '')}`}>{value(x)}</td>
  );
  return (
    <>
      {number(row.value)}
      {smoothed && number(row.smoothed)}
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
  if (!shown || (shown.rows.length === 0 && !shown.error)) return null;
  const { rows } = shown;
  const [head, beside] = headOf(shown);
  const smoothed = rows.some((row) => row.smoothed !== null);
  const means = rows.some((row) => row.spread !== null);
  const names = middles(
    rows.slice(0, kMost).map((row) => row.label),
    30,
  );
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
          {rows.slice(0, kMost).map((row, i) => (
            <tr key={row.id} class={row.far ? 'far' : ''}>
              <td>
                <span class="swatch" style={{ background: row.color }} />
              </td>
              <td class="name">{names[i]}</td>
              <Cells row={row} smoothed={smoothed} means={means} />
              <td class="num muted">{stepOf(row, shown.step)}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {shown.error && <div class="bad">{shown.error}</div>}
      {rows.length > kMost && <div class="muted">and {integer(rows.length - kMost)} more</div>}
    </div>
  );
}
