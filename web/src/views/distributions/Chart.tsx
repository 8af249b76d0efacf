// One canvas of distributions: draws, says what the pointer is at, and sets the step cursor.
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';

import { cursorStep, dark, setCursor } from '../../state';
import { bands } from './bands';
import { theme } from './colours';
import { heatmap } from './heatmap';
import { overlay } from './overlay';
import type { Hit, Input, Plot } from './plot';
import { ridgeline } from './ridgeline';
import type { Mode } from './settings';
import { Tip } from './Tip';

const kPlots: Record<Mode, (input: Input) => Plot> = { ridgeline, overlay, heatmap, bands };

export interface ChartProps {
  label: string;
  mode: Mode;
  input: Input;
}

interface Pointer {
  x: number;
  y: number;
  hit: Hit;
}

export function Chart({ label, mode, input }: ChartProps) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const [pointer, setPointer] = useState<Pointer | null>(null);
  const plot = useMemo(() => kPlots[mode](input), [mode, input]);
  const cursor = cursorStep.value;
  const isDark = dark.value;
  const { width, height } = input;
  const hit = pointer?.hit ?? null;

  useEffect(() => setPointer(null), [plot]);
  useLayoutEffect(() => {
    const element = canvas.current;
    const context = element?.getContext('2d');
    if (!element || !context || width <= 0 || height <= 0) return;
    const density = Math.min(3, window.devicePixelRatio || 1);
    element.width = Math.round(width * density);
    element.height = Math.round(height * density);
    context.setTransform(density, 0, 0, density, 0, 0);
    plot.draw(context, theme(element), { cursor, hit });
  }, [plot, width, height, cursor, hit?.series, hit?.index, hit?.bin, isDark]);

  const at = (event: MouseEvent): [number, number] => [event.offsetX, event.offsetY];
  const move = (event: PointerEvent): void => {
    const [x, y] = at(event);
    const found = plot.hit(x, y);
    setPointer(found && { x, y, hit: found });
  };
  const choose = (event: MouseEvent): void => {
    const step = plot.stepAt(...at(event));
    if (step !== null) setCursor(step);
  };
  const series = hit && input.series[hit.series];
  const of = series?.steps[hit?.index ?? -1];
  return (
    <div class="dist-chart">
      <canvas
        ref={canvas}
        role="img"
        aria-label={label}
        style={{ width: `${width}px`, height: `${height}px` }}
        onPointerMove={move}
        onPointerDown={move}
        onPointerLeave={() => setPointer(null)}
        onClick={choose}
      />
      {pointer && series && of && (
        <Tip
          x={pointer.x}
          y={pointer.y}
          width={width}
          height={height}
          series={series}
          of={of}
          bin={pointer.hit.bin}
          withRun={input.series.length > 1}
          withPercentiles={mode === 'bands'}
        />
      )}
    </div>
  );
}
