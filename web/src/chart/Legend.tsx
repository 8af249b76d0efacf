import { useLayoutEffect, useRef, useState } from 'preact/hooks';

import { everything, solo } from '../selection';
import { lit, selection } from '../state';
import { integer, middles } from '../ui/format';
import { useSize } from '../ui/hooks';
import { legendFit } from './legend_fit';

interface Entry {
  label: string;
  short?: string;
  color: string;
  dash?: number[];
  run?: string; // of a single line
  note?: string;
}

export interface LegendProps {
  lines: readonly Entry[];
  rows: number;
}

const kMost = 40;
const kGap = 14; // as in chart.css
const kMore = 70; // pixels for "+1,234 more"

// A short piece of the line, with its dashes.
function Sample({ color, dash }: Entry) {
  if (!dash || dash.length === 0) return <span class="swatch" style={{ background: color }} />;
  return (
    <svg class="legend-dash" width="18" height="8" aria-hidden="true">
      <line x1="0" y1="4" x2="18" y2="4" stroke={color} stroke-width="2" stroke-dasharray={dash.join(' ')} />
    </svg>
  );
}

function Name({ entry, text }: { entry: Entry; text: string }) {
  const { run, label, note } = entry;
  const content = (
    <>
      <Sample {...entry} />
      {text}
      {note && <span class="bad">{note}</span>}
    </>
  );
  if (run === undefined) return content;
  const alone = selection.value.only && selection.value.names.size === 1 && selection.value.names.has(run);
  return (
    <button
      type="button"
      class={lit.value === run ? 'legend-lit' : ''}
      aria-pressed={alone}
      title={`${label}\nClick: ${alone ? 'show all runs' : 'show only this run'}`}
      onPointerEnter={() => (lit.value = run)}
      onPointerLeave={() => (lit.value = null)}
      onFocus={() => (lit.value = run)}
      onBlur={() => (lit.value = null)}
      onClick={() => (selection.value = alone ? everything : solo([run]))}
    >
      {content}
    </button>
  );
}

// The names of the lines, in whole rows. Names that do not fit are rendered invisibly, to measure their widths.
export function Legend({ lines, rows }: LegendProps) {
  const root = useRef<HTMLUListElement>(null);
  const { width: room } = useSize(root);
  const [fit, setFit] = useState(0);
  const named = lines.slice(0, kMost);
  const texts = middles(
    named.map(({ short, label }) => short ?? label),
    28,
  );
  const key = JSON.stringify(named.map(({ label, note }) => [label, note]));
  useLayoutEffect(() => {
    if (room === 0 || !root.current) return;
    const widths = [...root.current.querySelectorAll<HTMLElement>('[data-name]')].map((name) => name.offsetWidth);
    setFit(legendFit(widths, lines.length > kMost, { more: kMore, gap: kGap, room, rows }));
  }, [key, lines.length, room, rows]);
  return (
    <ul class="legend" aria-label="Lines" ref={root}>
      {named.map((entry, i) => (
        <li
          key={i}
          data-name
          class={i < fit ? '' : 'legend-off'}
          title={entry.note ? `${entry.label}: ${entry.note}` : entry.label}
        >
          <Name entry={entry} text={texts[i] ?? entry.label} />
        </li>
      ))}
      {lines.length > fit && fit > 0 && <li class="muted">+{integer(lines.length - fit)} more</li>}
    </ul>
  );
}
