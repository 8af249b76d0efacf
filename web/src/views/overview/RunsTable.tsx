import { useMemo, useRef, useState } from 'preact/hooks';

import * as api from '../../api';
import { num } from '../../api';
import type { Run, TableRow } from '../../api_types';
import { hparamNames } from '../../groups';
import { type Better, type Headline, headlines, scalarsByTag } from '../../headline';
import { change } from '../../live';
import { partsThatDiffer } from '../../names';
import { restedRuns } from '../../shell/order';
import { status } from '../../state';
import { useAsked, useSize } from '../../ui/hooks';
import { integer, middle, middles, plural } from '../../ui/format';
import { useTable } from '../trials/useTable';
import { ArmDialog } from './ArmDialog';
import { DeleteDialog } from './DeleteDialog';
import { RunLine } from './RunLine';
import { SortHead, sortBy } from './SortHead';
import { columnsThatFit } from './columns';
import { sorted } from './sorting';

const kPortion = 50;
const kMetrics = 4;
const kHparams = 8;

export interface MetricColumn {
  tag: string;
  better: Better;
}

const columnsOf = (found: readonly Headline[]): MetricColumn[] =>
  found.flatMap(({ tags, better }) => tags.map((tag) => ({ tag, better }))).slice(0, kMetrics);

function useValues(runs: readonly Run[], columns: readonly MetricColumn[]): Map<string, TableRow> {
  const series = columns.flatMap(({ tag }) => {
    const has = new Set(scalarsByTag.value.get(tag)?.runs);
    return runs.filter((run) => has.has(run.run)).map((run) => ({ run: run.run, tag }));
  });
  const key = series.length > 0 ? JSON.stringify(series) : null;
  // Over the whole series: its last, smallest and largest value.
  const { value: rows } = useAsked(
    key,
    (signal) => api.table({ series: series.slice(0, 1000), range: [-(2 ** 53), 2 ** 53] }, signal),
    change.value.serial,
  );
  return useMemo(() => new Map(rows?.map((row) => [`${row.run}\n${row.tag}`, row])), [rows]);
}

const kNoRuns: readonly Run[] = [];

// When sorted by a metric, the numbers of all runs count, not only of the listed ones.
function useSorted(all: readonly Run[]): readonly Run[] {
  const by = sortBy.value;
  const tag = /^-?m:/.test(by) ? scalarsByTag.value.get(by.replace(/^-?m:/, '')) : undefined;
  const metrics = useMemo(() => (tag ? [tag] : []), [tag]);
  const { rowOf, serial } = useTable(tag ? all : kNoRuns, metrics);
  return useMemo(() => {
    const last = (run: string, name: string) => {
      const row = rowOf(run, name);
      return row && row.count > 0 ? num(row.last) : null;
    };
    return sorted(all, by, last);
  }, [all, by, serial, tag]);
}

export function RunsTable() {
  const [most, setMost] = useState(kPortion);
  const [arming, setArming] = useState<Run | null>(null);
  const [deleting, setDeleting] = useState<Run | null>(null);
  const all = useSorted(restedRuns.value);
  const shown = all.slice(0, most);
  const [whole, setWhole] = useState(false);
  const scroll = useRef<HTMLDivElement>(null);
  const { width } = useSize(scroll);
  const allColumns = columnsOf(headlines.value);
  const allNames = hparamNames(all).slice(0, kHparams);
  const labels = middles(partsThatDiffer(shown.map((run) => run.run)), 32);
  const longest = Math.max(0, ...labels.map((label) => label.length));
  const fit = whole ? { metrics: kMetrics, hparams: kHparams } : columnsThatFit(width, longest, allColumns.length, allNames.length);
  const columns = allColumns.slice(0, fit.metrics);
  const names = allNames.slice(0, fit.hparams);
  const hidden = allColumns.length + allNames.length - columns.length - names.length;
  const titles = middles(partsThatDiffer(columns.map(({ tag }) => tag)), 16);
  const values = useValues(shown, columns);
  const mayWrite = status.value?.may_write ?? false;
  return (
    <section class="card runs-table" aria-label="Runs table">
      <header class="card-head">
        <h3 class="card-title">Runs</h3>
        <span class="card-subtitle">{plural(all.length, 'run')}</span>
        {(hidden > 0 || whole) && (
          <button type="button" class="link-button muted" onClick={() => setWhole(!whole)}>
            {whole ? 'fewer columns' : `${plural(hidden, 'more column')}`}
          </button>
        )}
      </header>
      <div class="runs-scroll" ref={scroll} tabIndex={0} role="region" aria-label="Table of runs">
        <table>
          <thead>
            <tr>
              <SortHead id="run" name="run" />
              <SortHead id="state" name="state" />
              <SortHead id="step" name="last step" number />
              <SortHead id="speed" name="steps/s" number />
              {columns.map(({ tag, better }, i) => (
                <SortHead
                  key={tag}
                  id={`m:${tag}`}
                  name={titles[i] || '(no name)'}
                  number
                  title={`${tag}: last value${better ? `, and the ${better === 'smaller' ? 'smallest' : 'largest'}` : ''}`}
                >
                  {better && <span class="muted">· best</span>}
                </SortHead>
              ))}
              {names.map((name) => (
                <SortHead key={name} id={`h:${name}`} name={middle(name, 16)} number title={name} />
              ))}
              <SortHead id="note" name="note" />
              <th scope="col">
                <span class="visually-hidden">actions</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {shown.map((run, i) => (
              <RunLine
                key={run.run}
                run={run}
                label={labels[i] ?? run.run}
                columns={columns}
                values={values}
                hparams={names}
                mayWrite={mayWrite}
                onArm={() => setArming(run)}
                onDelete={() => setDeleting(run)}
              />
            ))}
          </tbody>
        </table>
      </div>
      {all.length > most && (
        <button type="button" class="link-button runs-more" onClick={() => setMost(most + kPortion)}>
          {integer(most)} of {integer(all.length)} runs: show more
        </button>
      )}
      {arming && <ArmDialog run={arming} mayWrite={mayWrite} onClose={() => setArming(null)} />}
      {deleting && <DeleteDialog run={deleting} mayWrite={mayWrite} onClose={() => setDeleting(null)} />}
    </section>
  );
}
