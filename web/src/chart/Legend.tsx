import { useLayoutEffect, useRef, useState } from 'preact/hooks';

import { integer, middle } from '../ui/format';
import { useSize } from '../ui/hooks';
import { legendFit } from './legend_fit';

export interface LegendProps {
  lines: readonly { label: string; color: string; note?: string }[];
  rows: number;
}

const kMost = 40;
const kGap = 14; // as in chart.css
const kMore = 70; // pixels for "+1,234 more"

// The names of the lines, in whole rows. Names that do not fit are rendered invisibly, to measure their widths.
export function Legend({ lines, rows }: LegendProps) {
  const root = useRef<HTMLUListElement>(null);
  const { width: room } = useSize(root);
  const [fit, setFit] = useState(0);
  const named = lines.slice(0, kMost);
  const key = JSON.stringify(named.map(({ label, note }) => [label, note]));
  useLayoutEffect(() => {
    if (room === 0 || !root.current) return;
    const widths = [...root.current.querySelectorAll<HTMLElement>('[data-name]')].map((name) => name.offsetWidth);
    setFit(legendFit(widths, lines.length > kMost, { more: kMore, gap: kGap, room, rows }));
  }, [key, lines.length, room, rows]);
  return (
    <ul class="legend" aria-label="Lines" ref={root}>
      {named.map(({ label, color, note }, i) => (
        <li key={i} data-name class={i < fit ? '' : 'legend-off'} title={note ? `${label}: ${note}` : label}>
          <span class="swatch" style={{ background: color }} />
          {middle(label, 28)}
          {note && <span class="bad">{note}</span>}
        </li>
      ))}
      {lines.length > fit && fit > 0 && <li class="muted">+{integer(lines.length - fit)} more</li>}
    </ul>
  );
}
