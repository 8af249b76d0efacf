// Any column against any other.
import { useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';

import { inkOf } from '../../chart/painter';
import { dark } from '../../state';
import { Card } from '../../ui/Card';
import { fullCard } from '../../ui/cards';
import { useSize } from '../../ui/hooks';
import { ColumnSelect } from './ColumnSelect';
import { drawFrame, drawMarkedPoint, drawPoints, frameOf, nearestPoint, placesOf } from './draw_scatter';
import { coarse } from './portions';
import { ShapeChoice } from './ShapeChoice';
import { hovered, scatterX, scatterY } from './settings';
import { type At, Tip } from './Tip';
import type { Trials } from './useTrials';

const kNear = 14; // CSS pixels from a point
const kId = 'trials:scatter';
const kHeight = 300;

export function Scatter({ trials }: { trials: Trials }) {
  const { names, kept, colours, x, y } = trials;
  const room = useRef<HTMLDivElement>(null);
  const below = useRef<HTMLCanvasElement>(null);
  const over = useRef<HTMLCanvasElement>(null);
  const { width, height: tall } = useSize(room);
  const [at, setAt] = useState<At | null>(null);
  const [drawn, setDrawn] = useState(0);
  const height = fullCard.value === kId ? Math.max(kHeight, tall) : kHeight;
  const theme = dark.value ? 'dark' : 'light';
  const marked = hovered.value === null ? -1 : names.indexOf(hovered.value);
  const frame = useMemo(() => frameOf(width, height), [width, height]);
  const places = useMemo(() => (x && y ? placesOf(x, y, names.length, frame) : new Float32Array()), [x, y, names, frame]);
  useLayoutEffect(() => {
    const context = coarse(below.current, width, height);
    if (!context || !x || !y) return;
    drawFrame(context, frame, x, y, inkOf(theme));
    drawPoints(context, places, kept, colours, inkOf(theme));
    setDrawn(kept.filter((one, i) => one && !Number.isNaN(places[2 * i]!)).length);
  }, [places, kept, colours, theme]);
  useLayoutEffect(() => {
    const context = coarse(over.current, width, height);
    if (context && marked >= 0) drawMarkedPoint(context, places, marked, inkOf(theme));
  }, [places, marked, theme]);
  const point = (event: PointerEvent): void => {
    const found = nearestPoint(places, kept, event.offsetX, event.offsetY, kNear);
    hovered.value = found < 0 ? null : (names[found] ?? null);
    setAt({ x: event.clientX, y: event.clientY });
  };
  const leave = (): void => {
    hovered.value = null;
    setAt(null);
  };
  const data: Record<string, string> = { chart: 'scatter' };
  if (drawn > 0 && !trials.loading) Object.assign(data, { ready: '', points: String(drawn) });
  const css = { width: `${width}px`, height: `${height}px` };
  return (
    <Card id={kId} title="Scatter" mayPin={false} class="trials-card trials-scatter" data={data}>
      <div class="trials-choose">
        <ShapeChoice />
        <ColumnSelect label="Upwards" options={trials.options} value={y?.column.id ?? ''} onChange={(id) => (scatterY.value = id)} />
        <span class="muted">over</span>
        <ColumnSelect label="To the right" options={trials.options} value={x?.column.id ?? ''} onChange={(id) => (scatterX.value = id)} />
      </div>
      <div class="trials-room" ref={room}>
        <div class="trials-layers" style={{ height: `${height}px` }}>
          <canvas ref={below} style={css} />
          <canvas
            ref={over}
            role="img"
            aria-label={`${y?.column.name ?? ''} over ${x?.column.name ?? ''}`}
            style={css}
            onPointerMove={point}
            onPointerDown={point}
            onPointerLeave={leave}
          />
        </div>
      </div>
      {at && marked >= 0 && <Tip trials={trials} trial={marked} at={at} />}
    </Card>
  );
}
