import { useMemo, useState } from 'preact/hooks';

import * as api from '../../api';
import type { Run, TableRow } from '../../api_types';
import { hparamNames } from '../../groups';
import { type Better, type Headline, headlines, scalarsByTag } from '../../headline';
import { change } from '../../live';
import { restedRuns } from '../../shell/order';
import { status } from '../../state';
import { useAsked, useDebounced } from '../../ui/hooks';
import { integer, middle, plural } from '../../ui/format';
import { ArmDialog } from './ArmDialog';
import { DeleteDialog } from './DeleteDialog';
import { RunLine } from './RunLine';

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
  const serial = useDebounced(change.value.serial, 1000);
  const series = columns.flatMap(({ tag }) => {
    const has = new Set(scalarsByTag.value.get(tag)?.runs);
    return runs.filter((run) => has.has(run.run)).map((run) => ({ run: run.run, tag }));
  });
  const key = series.length > 0 ? JSON.stringify([series, serial]) : null;
  // All of a series: its last value, and the smallest and largest of it.
  const { value: rows } = useAsked(key, (signal) =>
    api.table({ series: series.slice(0, 1000), range: [-(2 ** 53), 2 ** 53] }, signal),
  );
  return useMemo(() => new Map(rows?.map((row) => [`${row.run}\n${row.tag}`, row])), [rows]);
}

export function RunsTable() {
  const [most, setMost] = useState(kPortion);
  const [arming, setArming] = useState<Run | null>(null);
  const [deleting, setDeleting] = useState<Run | null>(null);
  const all = restedRuns.value;
  const shown = all.slice(0, most);
  const columns = columnsOf(headlines.value);
  const values = useValues(shown, columns);
  const names = hparamNames(all).slice(0, kHparams);
  const mayWrite = status.value?.may_write ?? false;
  return (
    <section class="card runs-table" aria-label="Runs table">
      <header class="card-head">
        <h3 class="card-title">Runs</h3>
        <span class="card-subtitle">{plural(all.length, 'run')}</span>
      </header>
      <div class="runs-scroll" tabIndex={0} role="region" aria-label="Table of runs">
        <table>
          <thead>
            <tr>
              <th scope="col">run</th>
              <th scope="col">state</th>
              <th scope="col" class="num">
                last step
              </th>
              <th scope="col" class="num">
                steps/s
              </th>
              {columns.map(({ tag, better }) => (
                <th
                  key={tag}
                  scope="col"
                  class="num"
                  title={`${tag}: last value${better ? `, and the ${better === 'smaller' ? 'smallest' : 'largest'}` : ''}`}
                >
                  {middle(tag, 20)} {better && <span class="muted">· best</span>}
                </th>
              ))}
              {names.map((name) => (
                <th key={name} scope="col" class="num" title={name}>
                  {middle(name, 16)}
                </th>
              ))}
              <th scope="col">note</th>
              <th scope="col">
                <span class="visually-hidden">actions</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {shown.map((run) => (
              <RunLine
                key={run.run}
                run={run}
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
