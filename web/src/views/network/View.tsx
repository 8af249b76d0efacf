// The network over time: layers in the order of execution as rows, steps as columns, any statistic as colour.
import { effect } from '@preact/signals';
import { useEffect, useMemo, useRef } from 'preact/hooks';
import './style.css';

import { get } from '../../api';
import { again, change } from '../../live';
import { alerts, runByName, setCursor, tagPattern, tagFilter, tags, visibleRuns } from '../../state';
import { Copy, Empty, Failure } from '../../ui/states';
import { useAsked } from '../../ui/hooks';
import { kHasInfinity, kHasNan, kSpikeDown, kSpikeUp, kTileCells } from './api';
import { type Source, cellsOf } from './cells';
import { rangeOf, type Scale } from './colour';
import { type Frame, levelOf, tilesOf } from './frame';
import { graphLink, linesLink, follow, tensorLink, captureLink } from './links';
import { Map as HeatMap } from './Map';
import { marksOf } from './marks';
import { Panel } from './Panel';
import { Parting } from './Parting';
import { arrange, kindLabel, type Row, type Score, type Tensor, tensorsOf } from './rows';
import { against, cell, colours, depth, kind, layer, opened, panel, runA, runB, sort, statistic } from './settings';
import { appliesTo, statisticOf, type StatisticInfo } from './statistics';
import { type Blocks, blocksOf, type Layer, TileStore } from './tiles';
import { Toolbar } from './Toolbar';
import { middle } from '../../ui/format';

const kOverviewWidth = 512; // cells of the whole run, about: always loaded, for the colour scale and quick answers
const kZ = 10; // the ends of the scale of distances from the past

interface Probe {
  tag: string;
  shape: number[];
}

// The runs with statistics: those that are visible first.
function runsWithStatistics(): string[] {
  const found = new Set<string>();
  for (const tag of tags.value) if (tag.kind === 'statistics') for (const run of tag.runs) found.add(run);
  const visible = visibleRuns.value.filter((run) => found.has(run));
  return visible.length > 0 ? visible : [...found];
}

// The run with the most tensors, which is the training rather than its evaluation; of several the first.
function richestOf(runs: readonly string[]): string {
  const counts = new Map<string, number>();
  for (const tag of tags.value) if (tag.kind === 'statistics') for (const run of tag.runs) counts.set(run, (counts.get(run) ?? 0) + 1);
  return runs.reduce((best, run) => ((counts.get(run) ?? 0) > (counts.get(best) ?? 0) ? run : best), runs[0] ?? '');
}

function wholeSteps(tensors: readonly Tensor[], runs: readonly string[]): readonly [number, number] {
  const wanted = new Set(tensors.map((tensor) => tensor.tag));
  let [first, last] = [Infinity, -Infinity];
  for (const tag of tags.value) {
    if (tag.kind !== 'statistics' || !wanted.has(tag.tag)) continue;
    tag.runs.forEach((run, i) => {
      if (!runs.includes(run)) return;
      first = Math.min(first, tag.first_step[i] ?? Infinity);
      last = Math.max(last, tag.last_step[i] ?? -Infinity);
    });
  }
  return first <= last ? [first, last + 1] : [0, 1];
}

function scoreOf(source: Source, tensor: Tensor, overview: Frame): Score | undefined {
  const row: Row = { id: tensor.tag, label: '', title: '', tensors: [tensor], group: false, open: false, depth: 0 };
  const score: Score = { value: NaN, spikes: 0, bad: 0 };
  let any = false;
  for (const tile of tilesOf(overview)) {
    const cells = cellsOf(source, row, overview.level, tile);
    if (!cells) continue;
    any = true;
    for (let c = 0; c < kTileCells; ++c) {
      const flags = cells.flags[c]!;
      if (flags & (kSpikeUp | kSpikeDown)) ++score.spikes;
      if (flags & (kHasNan | kHasInfinity)) ++score.bad;
      const value = source.past || source.b ? Math.abs(cells.values[c]!) : cells.values[c]!;
      if (!(score.value >= value) && !Number.isNaN(value)) score.value = value;
    }
  }
  return any ? score : undefined;
}

// One scale for all layers and steps: from the whole run, so that it stays while the map is moved.
function scaleOf(source: Source, tensors: readonly Tensor[], overview: Frame, info: StatisticInfo): Scale {
  const diverging = source.past || source.b !== null || info.signed === true;
  const log = info.log && !diverging;
  if (colours.value) return { lo: colours.value[0], hi: colours.value[1], log: log && colours.value[0] > 0, diverging };
  if (source.past) return { lo: -kZ, hi: kZ, log: false, diverging };
  const values: number[] = [];
  const stride = Math.max(1, Math.floor((tensors.length * kOverviewWidth) / 40_000));
  for (const tensor of tensors) {
    const row: Row = { id: tensor.tag, label: '', title: '', tensors: [tensor], group: false, open: false, depth: 0 };
    for (const tile of tilesOf(overview)) {
      const cells = cellsOf(source, row, overview.level, tile);
      if (cells) for (let c = values.length % stride; c < kTileCells; c += stride) values.push(cells.values[c]!);
    }
  }
  const [lo, hi] = rangeOf(values, log, diverging);
  return { lo, hi, log, diverging };
}

function EmptyView({ has }: { has: boolean }) {
  if (has)
    return (
      <Empty title="No layer to show">
        <p>{tagFilter.value ? 'No tensor of this kind matches the filter: change it, or choose other tensors.' : 'Show a run that has statistics of tensors.'}</p>
        {tagFilter.value && (
          <button type="button" class="text-button" onClick={() => (tagFilter.value = '')}>
            Show all layers
          </button>
        )}
      </Empty>
    );
  return (
    <Empty title="No statistics of layers in this log yet">
      <p>One line records every layer of a PyTorch model:</p>
      <Copy text="sonde.watch(model, gradients=True, weights=True, updates=True)" />
      <p>In C++, a probe records one tensor at each step:</p>
      <Copy text={'sonde::Probe out = rec.probe("dense_1/out");\nout.record(step, sonde::view(values, {32, 128}));'} />
      <p>Or train and record a small network now:</p>
      <Copy text="sonde demo" />
    </Empty>
  );
}

function useStore(a: string, b: string | null): TileStore {
  const store = useMemo(() => new TileStore(), []);
  const seen = useRef(new Map<string, number>());
  useEffect(() => {
    let first = true;
    const dispose = effect(() => {
      const { runs } = change.value;
      if (first) return void (first = false);
      for (const run of [a, b ?? a]) {
        if (runs !== null && !runs.has(run)) continue;
        store.touch(run, runs === null ? null : (seen.current.get(run) ?? null));
        store.arrived.value = store.arrived.peek() + 1; // not a dependency of this effect
      }
    });
    return dispose;
  }, [a, b]);
  for (const run of [a, b ?? a]) seen.current.set(run, runByName.value.get(run)?.last_step ?? 0);
  useEffect(() => () => store.stop(), []);
  return store;
}

export default function NetworkView() {
  const runs = runsWithStatistics();
  const a = runs.includes(runA.value) ? runA.value : richestOf(runs);
  const b = runB.value !== a && runs.includes(runB.value) ? runB.value : null;
  const store = useStore(a, b);
  const byKind = useMemo(() => tensorsOf(tags.value, b ? [a, b] : [a]), [tags.value, a, b]);
  const now = byKind.has(kind.value) ? kind.value : (byKind.keys().next().value ?? '');
  const all = byKind.get(now) ?? [];
  const blocksKey = `${now}\n${all.map((tensor) => tensor.tag).join('\n')}`;
  const blocks = useMemo<Blocks>(() => blocksOf(`${now}:${all.length}:${hashOf(blocksKey)}`, all), [blocksKey]);
  const chosen = statisticOf(statistic.value);
  const info = appliesTo(chosen, now) ? chosen : statisticOf('rms');
  const mode = against.value === 'difference' && !b ? 'absolute' : against.value;
  const shownCell = mode === 'past' ? 'past' : cell.value;
  const probes = useAsked(a === '' ? null : `${a}\n${all.length}`, (signal) => get<{ probes: Probe[] }>('probes', { run: a }, signal));
  const counts = useMemo(
    () => new Map(probes.value?.probes.map((probe) => [probe.tag, Math.max(1, probe.shape.reduce((n, size) => n * size, 1))])),
    [probes.value],
  );
  const pattern = tagPattern.value;
  const filtered = useMemo(() => (tagFilter.value === '' ? all : all.filter((tensor) => pattern.test(tensor.tag))), [all, tagFilter.value]);
  const layerOf = (run: string): Layer => ({ run, statistic: info.statistic, cell: shownCell, blocks });
  const sources = useMemo<Source[]>(() => {
    const common = { store, info, past: mode === 'past', countOf: (tag: string) => counts.get(tag) ?? 1 };
    if (mode === 'difference' && b) return [{ ...common, a: layerOf(a), b: layerOf(b) }];
    return [a, ...(b ? [b] : [])].map((run) => ({ ...common, a: layerOf(run), b: null }));
  }, [a, b, info, mode, shownCell, blocks, counts]);
  const whole = useMemo(() => wholeSteps(all, b ? [a, b] : [a]), [tags.value, all, a, b]);
  const interval = Math.min(...all.map((tensor) => tensor.interval), Infinity);
  const overview: Frame = { lo: whole[0], hi: whole[1], width: kOverviewWidth, level: levelOf(whole[1] - whole[0], kOverviewWidth, interval) };
  const arrived = store.arrived.value;
  const main = sources[0];
  const scale = useMemo<Scale>(
    () => (main && filtered.length > 0 ? scaleOf(main, filtered, overview, info) : { lo: 0, hi: 1, log: false, diverging: false }),
    [main, filtered, arrived, colours.value, whole],
  );
  const sorted = sort.value !== 'order' && sort.value !== 'name';
  const rows = useMemo(
    () =>
      arrange(filtered, {
        sort: sort.value,
        depth: Number(depth.value),
        opened: opened.value,
        score: (tensor) => (main ? scoreOf(main, tensor, overview) : undefined),
      }),
    [filtered, sort.value, depth.value, opened.value, sorted ? arrived : 0, sorted ? main : null],
  );
  const marks = useMemo(() => sources.map((source) => marksOf(alerts.value, source.b ? source.b.run : source.a.run)), [alerts.value, sources]);

  // What both maps need, in the order of its importance.
  const frames = useRef(new Map<number, { frame: Frame; rows: readonly Row[] }>());
  const want = (index: number) => (frame: Frame, shown: readonly Row[]) => {
    frames.current.set(index, { frame, rows: shown });
    const wanted: { layer: Layer; block: number; level: number; tile: number }[] = [];
    sources.forEach((source, i) => {
      const now = frames.current.get(i);
      if (!now) return;
      const used = new Set<number>();
      for (const row of now.rows) for (const { tag } of row.tensors) used.add(blocks.placeOf.get(tag)?.block ?? 0);
      const every = blocks.tags.map((_, block) => block);
      for (const part of [source.a, ...(source.b ? [source.b] : [])]) {
        for (const block of used) for (const tile of tilesOf(overview)) wanted.push({ layer: part, block, level: overview.level, tile });
        for (const block of used) for (const tile of tilesOf(now.frame)) wanted.push({ layer: part, block, level: now.frame.level, tile });
        if (sorted) for (const block of every) for (const tile of tilesOf(overview)) wanted.push({ layer: part, block, level: overview.level, tile });
      }
    });
    store.want(wanted);
  };

  if (a === '' || all.length === 0) return <EmptyView has={tags.value.some((tag) => tag.kind === 'statistics')} />;
  const chosenTensor = all.find((tensor) => tensor.tag === layer.value);
  const open = (row: Row, step: number): void => {
    if (row.group) {
      const old = opened.peek();
      opened.value = old.includes(row.id) ? old.filter((one) => one !== row.id) : [...old, row.id];
      return;
    }
    const tag = row.tensors[0]!.tag;
    follow(tensorLink(a, tag, step) ?? linesLink([info.statistic], tag, step));
  };
  const choose = (index: number) => (row: Row, step: number, second: boolean): void => {
    const run = sources[index]?.a.run ?? a;
    if (second && !row.group) return follow(graphLink(run, row.tensors[0]!.tag, step) ?? linesLink([info.statistic], row.tensors[0]!.tag, step));
    layer.value = row.id;
    panel.value = true;
    setCursor(step);
  };
  return (
    <div class="net-view">
      <Toolbar kinds={[...byKind.keys()]} now={now} info={info} runs={runs} a={a} b={b} scale={scale} />
      {b && <Parting a={a} b={b} version={again.value} />}
      {chosen !== info && <p class="net-parting muted">“{chosen.label}” is not defined for {kindLabel(now)}: this is {info.label}.</p>}
      {store.error.value && <Failure text={store.error.value} />}
      {rows.length === 0 ? (
        <EmptyView has />
      ) : (
        <div class="net-body">
          {sources.map((source, i) => (
            <section key={i} class="net-card" aria-label={`Map of ${source.a.run}`} data-complete={store.idle ? 'yes' : 'no'}>
              <header class="net-head">
                <h2>{source.b ? `${middle(source.b.run, 30)} against ${middle(source.a.run, 30)}` : middle(source.a.run, 40)}</h2>
                <span class="muted">
                  {kindLabel(now)} · {info.label}
                  {mode === 'past' ? ' against its own past' : ''} · {rows.length} of {all.length}
                </span>
                <MarkButtons marks={marks[i] ?? []} run={source.b?.run ?? source.a.run} />
              </header>
              <HeatMap
                label={`Map of ${source.a.run}`}
                source={source}
                rows={rows}
                whole={whole}
                interval={interval}
                scale={scale}
                marks={marks[i] ?? []}
                names={i === 0}
                want={want(i)}
                arrived={arrived}
                onChoose={choose(i)}
                onOpen={open}
              />
            </section>
          ))}
          {panel.value && chosenTensor && <Panel run={a} tensor={chosenTensor} info={info} version={arrived} />}
        </div>
      )}
    </div>
  );
}

const kMostMarks = 4;

// The newest marks as buttons: they lead to their step, and captures to what was saved.
function MarkButtons({ marks, run }: { marks: ReturnType<typeof marksOf>; run: string }) {
  return (
    <span class="net-marks">
      {marks.slice(-kMostMarks).map((mark) => (
        <button
          key={`${mark.kind}${mark.step}${mark.text}`}
          type="button"
          class={`net-mark net-mark-${mark.kind}`}
          title={mark.text}
          onClick={() => {
            setCursor(mark.step);
            if (mark.tag !== null) layer.value = mark.tag;
            if (mark.capture !== null) follow(captureLink(run, mark.capture));
          }}
        >
          {mark.kind === 'bad' ? 'NaN/Inf' : mark.kind === 'capture' ? 'capture' : 'alert'} @ {mark.step.toLocaleString('en-US')}
        </button>
      ))}
    </span>
  );
}

function hashOf(text: string): number {
  let h = 0x811c9dc5;
  for (let i = 0; i < text.length; ++i) h = Math.imul(h ^ text.charCodeAt(i), 0x01000193);
  return h >>> 0;
}
