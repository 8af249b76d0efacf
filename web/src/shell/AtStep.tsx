import { Fragment } from 'preact';

import * as api from '../api';
import { useAfterFirstChart } from '../chart/frames';
import type { TableRow } from '../api_types';
import { headlines, scalarsByTag } from '../headline';
import { change } from '../live';
import { partsThatDiffer } from '../names';
import { colorOf, cursorStep, runs, stepRange, visibleSet } from '../state';
import { useAsked, useThrottled } from '../ui/hooks';
import { badClass, integer, middle, middles, value } from '../ui/format';
import { type Shown, seriesAtStep } from './at_step';

const kMost = 6;

const percent = (share: number) => (share >= 10 ? `× ${value(share + 1, 2)}` : `${(100 * share).toFixed(share < 0.1 ? 1 : 0)} %`);

// The run is named once for all of its numbers; `i` is the index in the request.
function byRun(series: readonly Shown[]): [string, { tag: string; i: number }[]][] {
  const groups = new Map<string, { tag: string; i: number }[]>();
  series.forEach(({ run, tag }, i) => groups.set(run, [...(groups.get(run) ?? []), { tag, i }]));
  return [...groups];
}

function Line({ run, tag, name, found }: Shown & { name: string; found: { row: TableRow; then: number } | undefined }) {
  const now = found && found.row.count > 0 ? api.num(found.row.value) : null;
  const share = found && now !== null ? (now - found.then) / Math.abs(found.then) : NaN;
  const changed = Number.isFinite(share) && share !== 0;
  return (
    <tr title={`${tag} of ${run}`}>
      <td />
      <td class="name">{name}</td>
      <td class={`num ${badClass(now)}`}>{value(now)}</td>
      <td class="num muted" title="compared with 10 % of the run earlier">
        {changed && `${share > 0 ? '▲' : '▼'} ${percent(Math.abs(share))}`}
      </td>
    </tr>
  );
}

// The values at the cursor, and how much they changed compared with 10 % of the run earlier.
export function AtStep() {
  const step = useThrottled(cursorStep.value, 120);
  const known = scalarsByTag.value;
  const tags = headlines.value.flatMap((headline) => headline.tags.flatMap((name) => known.get(name) ?? []));
  const live = new Set(runs.value.flatMap((run) => (run.state === 'live' ? [run.run] : [])));
  const series = seriesAtStep(tags, visibleSet.value, live, kMost);
  const all = [...new Set(series.map(({ tag }) => tag))];
  const names = new Map(middles(partsThatDiffer(all), 12).map((name, i) => [all[i], name]));
  const [first, last] = stepRange.value;
  const before = Math.max(first, Math.round(step - (last - first) / 10));
  const later = useAfterFirstChart();
  const key = later && series.length > 0 ? JSON.stringify([series, step, before]) : null;
  const ask = async (signal: AbortSignal) => {
    const [now, then] = await Promise.all([
      api.table({ series, step }, signal),
      api.table({ series, step: before }, signal),
    ]);
    return now.map((row, i) => ({ row, then: api.num(then[i]?.value) }));
  };
  const { value: answer } = useAsked(key, ask, change.value.serial);
  if (series.length === 0) return null;
  return (
    <section class="panel-section at-step" aria-label="Values at the step cursor">
      <h2 class="section-title">At step {integer(cursorStep.value)}</h2>
      <table>
        <tbody>
          {byRun(series).map(([run, inside]) => (
            <Fragment key={run}>
              <tr>
                <td>
                  <span class="swatch" style={{ background: colorOf(run) }} />
                </td>
                <th scope="rowgroup" colSpan={3} title={run}>
                  {middle(run, 32)}
                </th>
              </tr>
              {inside.map(({ tag, i }) => (
                <Line key={tag} run={run} tag={tag} name={names.get(tag) ?? tag} found={answer?.[i]} />
              ))}
            </Fragment>
          ))}
        </tbody>
      </table>
    </section>
  );
}
