import { batch, effect, signal } from '@preact/signals';
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';

import * as api from '../api';
import { axis, cursor, cursorStep, dark, hover, lit, runByName, setCursor, smooth } from '../state';
import { useSize } from '../ui/hooks';
import { TooltipBox } from './TooltipBox';
import { buildScene, pointsOf } from './build';
import { useChartData } from './data';
import { draw, drawOverlay, frameOf } from './draw';
import { type Exact, ExactValues } from './exact';
import { drawSoon, forget } from './frames';
import { type Pair, attach } from './gestures';
import { intervalOf } from './interval';
import type { Lines } from './lines';
import { inkOf } from './painter';
import { type Frame, toValue } from './scale';
import { type Scene, fitX, fitY, kClip } from './scene';
import * as settings from './settings';
import { placesOf, stepAt, stepsBetween, stretchesOf } from './steps';
import { type Tip, dotsAt, questionAt, rowsOf } from './tooltip';

export interface ChartProps {
  id: string; // of the card: its options
  name: string; // data-chart
  shown: Lines;
  margins?: readonly { value: string; lower: string; upper: string }[];
  weight?: number; // of smoothing
  onDrawn?: (points: number, scene: Scene) => void;
  sceneRef?: { current: (() => { scene: Scene; width: number; height: number } | null) | null };
}

function fit(canvas: HTMLCanvasElement, width: number, height: number): CanvasRenderingContext2D | null {
  const ratio = Math.min(window.devicePixelRatio || 1, 3);
  const [w, h] = [Math.round(width * ratio), Math.round(height * ratio)];
  if (canvas.width !== w || canvas.height !== h) {
    canvas.width = w;
    canvas.height = h;
  }
  const context = canvas.getContext('2d');
  context?.setTransform(ratio, 0, 0, ratio, 0, 0);
  context?.clearRect(0, 0, width, height);
  return context;
}

const kOnLine = 12; // pixels from a line within which the pointer is on it

// Widths are rounded up to multiples of 64 pixels, so that cards of about the same size share one request.
const asked = (width: number) => Math.min(16384, Math.max(64, Math.ceil(width / 64) * 64));

// A logarithmic axis shows only values above zero. If none is left, the chart says so.
function unplacedIn(scene: Scene, zoomed: boolean): string | null {
  if (scene.logX && !zoomed && !Number.isFinite(fitX(scene, true)[0])) return 'A logarithmic x axis cannot show zero.';
  const finite = (log: boolean) => Number.isFinite(fitY(scene, scene.x, log, null)[0]);
  if (scene.logY && finite(false) && !finite(true))
    return 'A logarithmic y axis shows only values above zero, and none are in view.';
  return null;
}

export function Chart(props: ChartProps) {
  const { lines, groups, marks, guides } = props.shown;
  const root = useRef<HTMLDivElement>(null);
  const base = useRef<HTMLCanvasElement>(null);
  const over = useRef<HTMLCanvasElement>(null);
  const { width, height } = useSize(root);
  const own = settings.cardOptions.value[props.id];
  const logY = own?.logY ?? settings.logY.value;
  const logX = settings.logX.value && axis.value !== 'wall';
  const range = settings.xRange.value;
  const clip = (own?.clip ?? settings.clip.value) ? kClip : null;
  const weight = props.weight ?? smooth.value;

  const interval =
    weight > 0
      ? intervalOf([...lines, ...groups.flatMap(({ tag, runs }) => runs.map((run) => ({ run, tag })))])
      : undefined;
  const { data, ready, error } = useChartData({
    series: [...lines, ...marks, ...guides].map(({ run, tag }) => ({ run, tag, ...(interval === undefined ? {} : { interval }) })),
    groups: groups.map(({ tag, runs }) => ({ tag, runs })),
    window:
      width > 0
        ? {
            axis: axis.value,
            ...(range ? { range: [range[0], range[1]] as const } : {}),
            width: asked(width),
            ...(weight > 0 && lines.length > 0 ? { smooth: weight } : {}),
          }
        : null,
  });

  const scene = useMemo(() => {
    if (!data) return null;
    return buildScene(data, props.shown, {
      axis: data.wanted.window?.axis ?? 'step',
      logX,
      logY,
      clip,
      smooth: weight,
      interval,
      // While the answer for another axis is loading, its range does not apply.
      xRange: data.wanted.window?.axis === axis.value ? range : null,
      yRange: own?.y,
      started: (run) => runByName.peek().get(run)?.started ?? 0,
      margins: props.margins ?? [],
    });
  }, [data, props.shown, props.margins, logX, logY, clip, weight, interval, range, own, axis.value]);

  // The pointer moves sixty times a second: kept out of the component's state.
  const live = useMemo(
    () => ({
      scene: signal<Scene | null>(null),
      frame: null as Frame | null,
      drag: signal<Pair | null>(null),
      pointer: signal<{ x: number; px: number; py: number } | null>(null),
      tip: signal<Tip | null>(null),
      exact: signal<Exact | null>(null), // the last answer for the pointer's position
      lights: false, // the pointer is here, and highlights a run
    }),
    [],
  );
  const about = useRef({ shown: props.shown, interval, weight });
  about.current = { shown: props.shown, interval, weight };
  const [drawn, setDrawn] = useState<{ key: string; points: number } | null>(null);

  const highlighted = lines.some((line) => line.run === lit.value) ? lit.value : null;

  // Before the next frame, so that this frame shows it: an effect after the paint would draw one frame later.
  useLayoutEffect(() => {
    if (!scene || width === 0 || !data) return;
    const frame = frameOf(scene, width, height);
    const ink = inkOf(dark.value ? 'dark' : 'light');
    drawSoon(live, () => {
      const context = base.current && fit(base.current, width, height);
      if (!context) return;
      draw(context, scene, frame, ink, highlighted);
      live.frame = frame;
      batch(() => {
        live.scene.value = scene;
        // The data under a resting pointer has changed.
        const pointer = live.pointer.peek();
        if (!pointer) return;
        const x = toValue(frame.x, Math.max(frame.left, Math.min(frame.right, pointer.px)));
        live.pointer.value = { ...pointer, x };
        hover.value = x;
      });
      const points = pointsOf(data, lines.length);
      setDrawn((old) => (old?.key === data.key && old.points === points ? old : { key: data.key, points }));
      props.onDrawn?.(points, scene);
    });
    return () => forget(live);
  }, [scene, width, height, dark.value, highlighted]);

  useEffect(() => {
    const exact = new ExactValues(
      ({ series, step, smooth: weight }) =>
        api.table({ series, ...(step === null ? {} : { step }), ...(weight > 0 ? { smooth: weight } : {}) }),
      (found) => (live.exact.value = found),
    );
    let last: Scene | null = null;
    const stop = effect(() => {
      const shown = live.scene.value;
      const drag = live.drag.value;
      const pointer = live.pointer.value;
      const at = hover.value;
      const step = cursorStep.value;
      const range = settings.selected.value;
      const sort = settings.tooltipSort.value;
      const { frame } = live;
      const ink = inkOf(dark.value ? 'dark' : 'light');
      const box = root.current;
      if (!shown || !frame || !over.current || !box) return;
      const context = fit(over.current, box.clientWidth, box.clientHeight);
      if (!context) return;
      if (shown !== last) exact.clear(); // there may be other points now
      last = shown;
      const here = pointer && at !== null ? { x: at, py: pointer.py } : null;
      const { shown: lines, interval, weight } = about.current;
      const question = here && questionAt(shown, frame, here.x, lines, interval, weight);
      exact.want(question);
      if (!question) live.exact.value = null;
      const answer = live.exact.value;
      const known =
        here && (answer || !question)
          ? rowsOf(shown, frame, here, lines, answer?.question ?? null, answer?.rows ?? [], sort)
          : null;
      const own = known?.rows
        .filter((row) => !row.far && row.spread === null && Number.isFinite(row.value))
        .map((row) => ({ x: row.x, y: row.smoothed ?? row.value, color: row.color }));
      drawOverlay(
        context,
        frame,
        {
          cursors: placesOf(shown, step),
          hover: at,
          selection: range ? stretchesOf(shown, range) : [],
          drag,
          // A mean is drawn per pixel column: its dot stays on the line.
          dots: at === null ? [] : [...(own ?? []), ...dotsAt(own ? { ...shown, lines: [] } : shown, frame, at)],
        },
        ink,
      );
      if (here) {
        const [closest] = [...(known?.rows ?? [])].sort((a, b) => a.away - b.away);
        const under = closest && !closest.far && closest.away < kOnLine ? closest.id.split('\n')[0] : undefined;
        lit.value = lines.lines.some((line) => line.run === under) ? (under ?? null) : null;
        live.lights = true;
      } else if (live.lights) {
        live.lights = false;
        lit.value = null;
      }
      const error = answer?.error ?? null;
      live.tip.value =
        pointer && at !== null && known && (known.rows.length > 0 || error)
          ? { ...known, axis: shown.axis, at, x: pointer.px, error }
          : null;
    });
    return () => {
      stop();
      exact.want(null);
    };
  }, []);

  useEffect(() => {
    const element = root.current;
    if (!element) return;
    const detach = attach(element, {
      frame: () => live.frame,
      selecting: () => settings.selecting.peek(),
      wheelZooms: () => element.closest('.card-full') !== null,
      hover: (x, px, py) => {
        hover.value = x;
        live.pointer.value = x === null ? null : { x, px, py };
      },
      click: (x, py) => {
        const [shown, before] = [live.scene.peek(), cursor.peek()];
        const step = shown && live.frame && stepAt(shown, live.frame, x, py);
        if (step !== null) setCursor(step);
        return () => (cursor.value = before);
      },
      drag: (range) => (live.drag.value = range),
      zoom: settings.zoomTo,
      zoomY: (y) => settings.setCardOptions(props.id, { y }),
      select: (range, py) => {
        const shown = live.scene.peek();
        settings.selectRange(shown && live.frame && stepsBetween(shown, live.frame, range, py));
      },
      reset: () => {
        settings.resetZoom();
        settings.setCardOptions(props.id, { y: [null, null] });
      },
    });
    return () => {
      detach();
      if (live.pointer.peek()) hover.value = null;
    };
  }, [props.id]);

  // A card that leaves the screen frees its pixels at once: the garbage collector counts only the few bytes of the
  // elements.
  useLayoutEffect(() => {
    const layers = [base.current, over.current];
    return () => {
      for (const layer of layers) if (layer) layer.width = layer.height = 0;
    };
  }, []);

  // After a resize the pointer is elsewhere.
  useEffect(() => {
    if (live.pointer.peek()) hover.value = null;
    live.pointer.value = null;
  }, [width, height]);

  useEffect(() => {
    if (props.sceneRef) props.sceneRef.current = () => (scene ? { scene, width, height } : null);
  }, [scene, width, height]);

  const isReady = ready && drawn?.key === data?.key;
  const nothing = data !== null && ready && drawn?.points === 0;
  const unplaced = ready && !nothing && scene !== null ? unplacedIn(scene, range !== null) : null;
  return (
    <div
      class="chart"
      ref={root}
      tabIndex={0}
      role="img"
      aria-label={`Chart of ${props.name}: ${[...lines, ...groups]
        .map((line) => line.label)
        .slice(0, 8)
        .join(', ')}`}
      data-chart={props.name}
      data-points={drawn?.points ?? 0}
      {...(isReady ? { 'data-ready': '' } : {})}
    >
      <canvas ref={base} class="chart-layer" />
      <canvas ref={over} class="chart-layer" />
      {error && <div class="chart-note bad">{error}</div>}
      {nothing && <div class="chart-note muted">No points in view. Double-click to show everything.</div>}
      {unplaced && <div class="chart-note muted">{unplaced}</div>}
      {!data && !error && <div class="chart-note muted">Reading…</div>}
      <TooltipBox tip={live.tip} chart={root} />
    </div>
  );
}
