// Everything that the view shows, from the server's data and the address.
import { useMemo } from 'preact/hooks';

import type { Run, Tag } from '../../api_types';
import { headlines, scalarTags } from '../../headline';
import { chosenRuns, dark, runByName } from '../../state';
import { useThrottled } from '../../ui/hooks';
import { type Axis, axisOf, keptOf } from './axes';
import { type Column, hparamColumn, hparamId, hparamsOf, isMetric, metricColumn, metricId, nameOf, sortedBy, trialsOf } from './columns';
import { brushes, chosenAxes, colourBy, scales, scatterX, scatterY, sortBy, stat } from './settings';
import { coloursOf } from './colours';
import { useTable } from './useTable';

const kFollow = 1000; // ms between updates of the trials of a live log
const kMostHparams = 8; // unless more are chosen
const kMostMetrics = 3;

export interface Trials {
  names: string[]; // of the runs
  axes: Axis[]; // as chosen, from left to right
  x: Axis | undefined; // of the scatter chart
  y: Axis | undefined;
  colour: Axis | undefined;
  colours: string[]; // one a trial
  kept: boolean[];
  keptCount: number;
  order: Uint32Array; // of the table
  options: { hparams: string[]; metrics: string[] }; // ids of all possible columns
  loading: boolean;
  error: string | null;
}

function metricsOf(trials: readonly Run[]): { all: string[]; usual: string[] } {
  const has = new Set(trials.map((trial) => trial.run));
  const all = scalarTags.value.filter((tag) => tag.runs.some((run) => has.has(run))).map((tag) => tag.tag);
  const there = new Set(all);
  const said = [...new Set(trials.flatMap((trial) => trial.metrics))].filter((tag) => there.has(tag));
  const usual = said.length > 0 ? said : headlines.value.flatMap((one) => one.tags).filter((tag) => there.has(tag));
  return { all, usual: usual.slice(0, kMostMetrics) };
}

function useChosen(): readonly Run[] {
  const all = useThrottled(runByName.value, kFollow);
  const names = chosenRuns.value;
  const scalars = useThrottled(scalarTags.value, kFollow);
  return useMemo(() => trialsOf(names.flatMap((name) => all.get(name) ?? []), scalars), [all, names, scalars]);
}

export function useTrials(): Trials {
  const runs = useChosen();
  const names = useMemo(() => runs.map((one) => one.run), [runs]);
  const hparams = useMemo(() => hparamsOf(runs), [runs]);
  const metrics = useMemo(() => metricsOf(runs), [runs, scalarTags.value]);
  const options = { hparams: hparams.all.map(hparamId), metrics: metrics.all.map(metricId) };
  const there = new Set([...options.hparams, ...options.metrics]);
  const usual = (hparams.differing.length > 0 ? hparams.differing : hparams.all).slice(0, kMostHparams);
  const chosen = chosenAxes.value.filter((id) => there.has(id));
  const shown = chosen.length > 0 ? chosen : [...usual.map(hparamId), ...metrics.usual.map(metricId)];
  const pick = (id: string, otherwise: string | undefined) => (there.has(id) ? id : (otherwise ?? ''));
  const firstMetric = shown.find(isMetric) ?? options.metrics[0];
  const by = pick(colourBy.value, firstMetric ?? shown[0]);
  const numeric = (id: string) => !isMetric(id) && typeof runs[0]?.hparams[nameOf(id)] === 'number';
  const x = pick(scatterX.value, shown.find(numeric) ?? shown.find((id) => !isMetric(id)) ?? options.hparams[0]);
  const y = pick(scatterY.value, firstMetric ?? options.hparams[1] ?? x);
  const wanted = [...new Set([...shown, by, x, y, ...Object.keys(brushes.value).filter((id) => there.has(id))])].filter((id) => id !== '');
  const tags = useMemo(() => {
    const asked = new Set(wanted.filter(isMetric).map(nameOf));
    return scalarTags.value.filter((tag): tag is Tag => asked.has(tag.tag));
  }, [wanted.join('\n'), scalarTags.value]);
  const table = useTable(runs, tags);
  const columns = useMemo(() => {
    const made = wanted.map((id): Column => (isMetric(id) ? metricColumn(nameOf(id), runs, table.rowOf, stat.value) : hparamColumn(nameOf(id), runs)));
    return new Map(made.map((column) => [column.id, column]));
  }, [runs, wanted.join('\n'), table.serial, stat.value]);
  const axisOfId = useMemo(
    () => new Map([...columns].map(([id, column]) => [id, axisOf(column, scales.value[id])])),
    [columns, scales.value],
  );
  const axes = useMemo(() => shown.flatMap((id) => axisOfId.get(id) ?? []), [axisOfId, shown.join('\n')]);
  const kept = useMemo(() => keptOf(runs.length, [...columns.values()], brushes.value), [runs, columns, brushes.value]);
  const sorted = sortBy.value.replace(/^-/, '');
  const order = useMemo(() => sortedBy(columns.get(sorted), names, sortBy.value.startsWith('-')), [columns, names, sortBy.value]);
  const colour = axisOfId.get(by);
  const colours = useMemo(() => coloursOf(colour, names.length, dark.value), [colour, names, dark.value]);
  return {
    names, axes, x: axisOfId.get(x), y: axisOfId.get(y), colour, colours, kept, order, options,
    keptCount: useMemo(() => kept.reduce((sum, one) => sum + Number(one), 0), [kept]),
    loading: table.loading,
    error: table.error,
  };
}
