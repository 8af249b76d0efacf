// Each metric over each hyper-parameter. A click enlarges a chart.
import { Fragment } from 'preact';
import { useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';

import { inkOf } from '../../chart/painter';
import { dark } from '../../state';
import { Card } from '../../ui/Card';
import { middle, plural } from '../../ui/format';
import { useSize } from '../../ui/hooks';
import type { Axis } from './axes';
import { drawMarkedPoint, drawPoints, placesOf } from './draw_scatter';
import { coarse } from './portions';
import { ShapeChoice } from './ShapeChoice';
import { hovered, scatterShape, scatterX, scatterY } from './settings';
import type { Trials } from './useTrials';

const kHeight = 104; // of a chart, CSS pixels
const kNames = 92; // beside the charts
const kLeast = 76; // the width of a chart
const kGap = 4; // as in the style
const kBorder = 1;

export function Matrix({ trials }: { trials: Trials }) {
  const room = useRef<HTMLDivElement>(null);
  const { width } = useSize(room);
  const [drawn, setDrawn] = useState(false);
  const across = trials.axes.filter((axis) => !axis.column.metric);
  const up = trials.axes.filter((axis) => axis.column.metric);
  const cell = width > 0 ? Math.max(kLeast, (width - kNames) / Math.max(1, across.length) - kGap) - 2 * kBorder : 0;
  const data: Record<string, string> = { chart: 'scatter matrix' };
  if (drawn && !trials.loading) Object.assign(data, { ready: '', points: String(trials.keptCount) });
  return (
    <Card id="trials:matrix" title="Scatter" subtitle={`${plural(up.length, 'metric')} over ${plural(across.length, 'hyper-parameter')}`} mayPin={false} class="trials-card" data={data}>
      <div class="trials-choose">
        <ShapeChoice />
      </div>
      {(across.length === 0 || up.length === 0) && <p class="muted">Choose at least one hyper-parameter and one metric under Axes.</p>}
      <div class="trials-room trials-scroll-x" ref={room}>
        <div class="trials-matrix" style={{ gridTemplateColumns: `${kNames}px repeat(${across.length}, minmax(${kLeast}px, 1fr))` }}>
          {up.map((y) => (
            <Fragment key={y.column.id}>
              <span class="trials-matrix-name" title={y.column.name}>
                {middle(y.column.name, 14)}
              </span>
              {across.map((x) => (
                <Cell key={x.column.id} trials={trials} x={x} y={y} width={cell} onDrawn={() => setDrawn(true)} />
              ))}
            </Fragment>
          ))}
          <span />
          {across.map(({ column }) => (
            <span key={column.id} class="trials-matrix-name trials-matrix-below" title={column.name}>
              {middle(column.name, 14)}
            </span>
          ))}
        </div>
      </div>
    </Card>
  );
}

function Cell({ trials, x, y, width, onDrawn }: { trials: Trials; x: Axis; y: Axis; width: number; onDrawn: () => void }) {
  const { names, kept, colours } = trials;
  const canvas = useRef<HTMLCanvasElement>(null);
  const theme = dark.value ? 'dark' : 'light';
  const places = useMemo(
    () => placesOf(x, y, names.length, { left: 2, right: Math.max(3, width - 2), top: 2, bottom: kHeight - 4 }),
    [x, y, names, width],
  );
  const marked = hovered.value === null ? -1 : names.indexOf(hovered.value);
  useLayoutEffect(() => {
    // In its own frame, so that many of them do not block the page.
    const frame = requestAnimationFrame(() => {
      const context = coarse(canvas.current, width, kHeight - 2 * kBorder);
      if (!context) return;
      drawPoints(context, places, kept, colours, inkOf(theme), 2.5);
      if (marked >= 0) drawMarkedPoint(context, places, marked, inkOf(theme));
      onDrawn();
    });
    return () => cancelAnimationFrame(frame);
  }, [places, kept, colours, theme, marked]);
  const name = `${y.column.name} over ${x.column.name}`;
  const choose = (): void => {
    scatterX.value = x.column.id;
    scatterY.value = y.column.id;
    scatterShape.value = 'one';
  };
  return (
    <button type="button" class="trials-matrix-cell" style={{ height: `${kHeight}px` }} aria-label={name} title={name} onClick={choose}>
      <canvas ref={canvas} />
    </button>
  );
}
