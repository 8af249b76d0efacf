// Parallel coordinates: one line per trial through its values on each axis.
import { useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';

import { inkOf } from '../../chart/painter';
import { dark } from '../../state';
import { Card } from '../../ui/Card';
import { fullCard } from '../../ui/cards';
import { integer, plural } from '../../ui/format';
import { useSize } from '../../ui/hooks';
import { spanOf } from './axes';
import { AxisMenu } from './AxisMenu';
import { ColourKey } from './ColourKey';
import { alphaFor, drawAxes, drawBrush, drawMarked, heightsOf, kHeight, layoutOf, nearestTrial, strokeTrial, widthFor } from './draw_parallel';
import { coarse, inPortions } from './portions';
import { brushes, hovered } from './settings';
import { type At, Tip } from './Tip';
import { useBrush } from './useBrush';
import type { Trials } from './useTrials';

const kNear = 10; // CSS pixels from a line
const kId = 'trials:parallel';
const kHead = 30; // of the names of the axes

// Every index once, in a scrambled order, so that any part of it is representative.
function mixed(count: number): Uint32Array {
  const order = Uint32Array.from({ length: count }, (_, i) => i);
  let seed = 1;
  for (let i = count - 1; i > 0; --i) {
    seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
    const j = seed % (i + 1);
    [order[i], order[j]] = [order[j]!, order[i]!];
  }
  return order;
}

export function Parallel({ trials }: { trials: Trials }) {
  const { axes, names, kept, keptCount, colours } = trials;
  const room = useRef<HTMLDivElement>(null);
  const all = useRef<HTMLCanvasElement>(null);
  const some = useRef<HTMLCanvasElement>(null);
  const over = useRef<HTMLCanvasElement>(null);
  const size = useSize(room);
  const [drawn, setDrawn] = useState(false);
  const [at, setAt] = useState<At | null>(null);
  const [atAxis, setAtAxis] = useState(false);
  const full = fullCard.value === kId;
  const width = size.width > 0 ? widthFor(axes.length, size.width) : 0;
  const height = full ? Math.max(kHeight, size.height - kHead - 16) : kHeight;
  const theme = dark.value ? 'dark' : 'light';
  const layout = useMemo(() => layoutOf(axes.length, width, height), [axes.length, width, height]);
  const heights = useMemo(() => heightsOf(axes, names.length, layout), [axes, names, layout]);
  const mix = useMemo(() => mixed(names.length), [names.length]);
  const marked = hovered.value === null ? -1 : names.indexOf(hovered.value);
  const brushing = useBrush(axes, layout);
  const brushed = keptCount < names.length;

  useLayoutEffect(() => {
    const context = brushed ? coarse(all.current, width, height) : null;
    if (!context) return void coarse(all.current, 1, 1);
    context.strokeStyle = inkOf(theme).muted;
    context.globalAlpha = alphaFor(names.length);
    return inPortions(mix, (trial) => strokeTrial(context, layout, heights, trial), () => undefined);
  }, [brushed, heights, theme]);
  useLayoutEffect(() => {
    const context = coarse(some.current, width, height);
    if (!context || axes.length === 0) return;
    context.globalAlpha = alphaFor(keptCount);
    context.lineWidth = keptCount > 500 ? 1 : 1.5;
    const one = (trial: number): void => {
      context.strokeStyle = colours[trial]!;
      strokeTrial(context, layout, heights, trial);
    };
    return inPortions(mix.filter((trial) => kept[trial]), one, () => setDrawn(true));
  }, [kept, heights, colours]);
  useLayoutEffect(() => {
    const context = coarse(over.current, width, height);
    if (!context) return;
    const ink = inkOf(theme);
    drawAxes(context, layout, axes, ink);
    axes.forEach((axis, a) => {
      const span = spanOf(axis, brushes.value[axis.column.id]);
      if (span) drawBrush(context, layout, a, span, ink);
    });
    if (marked >= 0) drawMarked(context, layout, heights, marked, ink);
  }, [axes, heights, theme, brushes.value, marked]);

  const point = (event: PointerEvent): void => {
    if (brushing.move(event.offsetY)) return leave();
    const found = nearestTrial(layout, heights, kept, event.offsetX, event.offsetY, kNear);
    hovered.value = found < 0 ? null : (names[found] ?? null);
    setAt({ x: event.clientX, y: event.clientY });
    setAtAxis(brushing.over(event.offsetX, event.offsetY));
  };
  const leave = (): void => {
    hovered.value = null;
    setAt(null);
  };
  const down = (event: PointerEvent): void => {
    if (brushing.down(event.offsetX, event.offsetY)) over.current?.setPointerCapture(event.pointerId);
    else point(event);
  };
  const data: Record<string, string> = { chart: 'parallel coordinates' };
  if (drawn && !trials.loading) Object.assign(data, { ready: '', points: String(keptCount) });
  const subtitle = brushed ? `${integer(keptCount)} of ${plural(names.length, 'trial')}` : plural(names.length, 'trial');
  return (
    <Card id={kId} title="Parallel coordinates" subtitle={subtitle} mayPin={false} class="trials-card" data={data}>
      {trials.colour && <ColourKey axis={trials.colour} />}
      <div class="trials-room" ref={room} data-full={full}>
        <div class="trials-parallel" style={{ width: `${width}px`, height: `${height + kHead}px` }}>
          {axes.map((axis, a) => (
            <AxisMenu key={axis.column.id} axes={axes} at={a} x={layout.xs[a]!} />
          ))}
          <div class="trials-layers" style={{ height: `${height}px` }}>
            <canvas ref={all} class="trials-behind" style={{ width: `${width}px`, height: `${height}px` }} />
            <canvas ref={some} style={{ width: `${width}px`, height: `${height}px` }} />
            <canvas
              ref={over}
              role="img"
              aria-label={`Parallel coordinates of ${subtitle}`}
              class={atAxis ? 'trials-at-axis' : ''}
              style={{ width: `${width}px`, height: `${height}px` }}
              onPointerMove={point}
              onPointerDown={down}
              onPointerUp={() => brushing.up()}
              onPointerCancel={() => brushing.up()}
              onPointerLeave={leave}
            />
          </div>
        </div>
      </div>
      {at && marked >= 0 && <Tip trials={trials} trial={marked} at={at} />}
    </Card>
  );
}
