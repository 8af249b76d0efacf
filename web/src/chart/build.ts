// Builds a scene from answers.
import type { Axis, Band, Columns, Series } from '../api_types';
import type { ChartData } from './data';
import type { Lines } from './lines';
import { type AxisKind, padded, sane } from './scale';
import { type BandShape, type Clip, type Line, type Margin, type Scene, fitX, fitY } from './scene';
import { byPoints, byStep, smoothed } from './smooth';

// One line of a chart, as its card describes it.
export interface LineSpec {
  id: string;
  run: string;
  tag: string;
  label: string;
  short?: string; // the label without what all lines of the chart share
  color: string;
  dash: number[];
}

export interface GroupSpec {
  tag: string;
  runs: string[];
  label: string;
  color: string;
}

export const bandId = ({ label, tag }: GroupSpec): string => `${label}\n${tag}`;

export interface View {
  axis: Axis;
  logX: boolean;
  logY: boolean;
  clip: Clip | null;
  smooth: number; // weight; 0: none
  interval: number | undefined; // number of steps for which the weight counts once
  xRange: readonly [number, number] | null;
  yRange: readonly [number | null, number | null] | undefined;
  started: (run: string) => number; // the start of a run's relative axis
  margins: readonly { value: string; lower: string; upper: string }[];
}

export const axisKind = (axis: Axis): AxisKind => (axis === 'step' ? 'number' : axis);

function xOf(columns: Pick<Columns, 'step' | 'time'>, axis: Axis, started: number): Float64Array {
  if (axis === 'step') return columns.step;
  return axis === 'wall' ? columns.time : columns.time.map((time) => time - started);
}

function lineOf(spec: LineSpec, series: Series, view: View): Line {
  const started = view.axis === 'relative' ? view.started(spec.run) : 0;
  const smooth = view.smooth > 0 && series.smooth.step.length > 0;
  const main = smooth ? series.smooth : series.raw;
  return {
    ...spec,
    x: xOf(main, view.axis, started),
    y: main.value,
    step: main.step,
    time: main.time,
    rawX: smooth ? xOf(series.raw, view.axis, started) : null,
    rawY: smooth ? series.raw.value : null,
    bad: { ...series.bad, x: xOf(series.bad, view.axis, started) },
  };
}

function marginsOf(lines: Line[], specs: readonly LineSpec[], view: View): Margin[] {
  const made: Margin[] = [];
  const tagOf = new Map(specs.map((spec) => [spec.id, spec.tag]));
  for (const margin of view.margins)
    for (const run of new Set(lines.map((line) => line.run))) {
      const of = (tag: string) => lines.find((line) => line.run === run && tagOf.get(line.id) === tag);
      const low = of(margin.lower);
      const high = of(margin.upper);
      if (low && high) made.push({ color: high.color, lowX: low.x, low: low.y, highX: high.x, high: high.y });
    }
  return made;
}

const kEmpty = new Float64Array();

// The runs of a group that end with non-finite values: from there on the mean covers only the others.
function goneOf(group: GroupSpec, seriesOf: (run: string, tag: string) => Series | undefined): BandShape['gone'] {
  const steps = group.runs.flatMap((run) => {
    const series = seriesOf(run, group.tag);
    const last = series?.raw.step[series.raw.step.length - 1] ?? -Infinity;
    return series?.bad.step.find((step) => step > last) ?? [];
  });
  return steps.length > 0 ? { runs: steps.length, step: Math.min(...steps) } : null;
}

function bandOf(group: GroupSpec, band: Band, gone: BandShape['gone'], view: View): BandShape {
  const factor =
    view.axis === 'step' ? byStep(view.smooth, band.x, view.interval ?? 1) : byPoints(view.smooth, band);
  return {
    id: bandId(group),
    label: group.label,
    color: group.color,
    x: band.x,
    mean: view.smooth > 0 ? smoothed(band.mean, factor) : band.mean,
    raw: view.smooth > 0 ? band.mean : null,
    low: band.mean.map((mean, k) => mean - (band.std[k] as number)),
    high: band.mean.map((mean, k) => mean + (band.std[k] as number)),
    min: band.min,
    max: band.max,
    count: band.count,
    gone,
  };
}

export function buildScene(data: ChartData, { lines, groups, marks, guides }: Lines, view: View): Scene {
  const at = new Map(data.wanted.series.map((one, i) => [`${one.run}\n${one.tag}`, i]));
  const seriesOf = (run: string, tag: string) => data.series[at.get(`${run}\n${tag}`) ?? -1];
  const linesFor = (specs: readonly LineSpec[]): Line[] =>
    specs.flatMap((spec) => {
      const series = seriesOf(spec.run, spec.tag);
      return series?.found ? [lineOf(spec, series, view)] : [];
    });
  const made = [
    ...linesFor(lines),
    ...linesFor(marks).map((line) => ({ ...line, x: kEmpty, y: kEmpty, step: kEmpty, time: kEmpty, rawX: null, rawY: null })),
  ];
  const bands = groups.flatMap((group, i) => {
    const band = data.bands[i];
    return band?.found ? [bandOf(group, band, goneOf(group, seriesOf), view)] : [];
  });
  const parts = { lines: made, bands };
  const x = view.xRange ? sane(view.xRange[0], view.xRange[1], view.logX) : sane(...fitX(parts, view.logX), view.logX);
  const fitted = sane(...fitY(parts, x, view.logY, view.clip), view.logY);
  const [low, high] = padded(...fitted, view.logY);
  const [least, most] = view.clip ? fitY(parts, x, view.logY, null) : fitted;
  const y = sane(view.yRange?.[0] ?? low, view.yRange?.[1] ?? high, view.logY);
  return {
    ...parts,
    margins: marginsOf(made, lines, view),
    guides: linesFor(guides),
    axis: axisKind(view.axis),
    logX: view.logX,
    logY: view.logY,
    x,
    y,
    // Only what the automatic fit excludes: ends that were set by hand need no note.
    clipped: [
      view.yRange?.[0] == null && least < low ? least : null,
      view.yRange?.[1] == null && most > high ? most : null,
    ],
  };
}

// Points in view before down-sampling.
export const pointsOf = (data: ChartData, lines: number): number =>
  data.series.slice(0, lines).reduce((sum, one) => sum + one.total, 0) +
  data.bands.reduce((sum, one) => sum + one.total, 0);
