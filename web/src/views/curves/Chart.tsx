// The canvas of a card: draws the curves, and shows the point of each that is nearest to the pointer.
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';

import { inkOf } from '../../chart/painter';
import { dark } from '../../state';
import { beside } from '../../ui/beside';
import { cleared } from '../../ui/canvas';
import { draw, frameOf, type Line, placeOf } from './draw';
import { fitted, nearest, type Point } from './model';
import { extent } from './settings';
import { Tip } from './Tip';

export interface ChartProps {
  label: string;
  lines: readonly Line[];
  width: number; // CSS pixels
  height: number;
  onDrawn: () => void;
}

interface Pointer {
  x: number; // in the canvas
  y: number;
  clientX: number;
  clientY: number;
}

export function Chart({ label, lines, width, height, onDrawn }: ChartProps) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const [pointer, setPointer] = useState<Pointer | null>(null);
  const whole = extent.value === 'whole';
  const curves = lines.map((line) => line.points);
  const range = (of: (point: Point) => number): [number, number] => (whole ? [0, 1] : fitted(curves, of));
  const frame = frameOf(width, height, range((p) => p.recall), range((p) => p.precision));
  const marked = lines.map(({ points }): Point | null => {
    if (!pointer) return null;
    return points[nearest(points.map((point) => placeOf(frame, point)), pointer.x, pointer.y)] ?? null;
  });
  const theme = dark.value ? 'dark' : 'light';
  useLayoutEffect(() => {
    const context = cleared(canvas.current, width, height);
    if (!context) return;
    draw(context, frame, lines, marked, inkOf(theme));
  });
  useEffect(() => {
    if (width > 0 && height > 0) onDrawn();
  }, [lines, width, height]);
  const move = (event: PointerEvent): void =>
    setPointer({ x: event.offsetX, y: event.offsetY, clientX: event.clientX, clientY: event.clientY });
  return (
    <div class="curves-chart">
      <canvas
        ref={canvas}
        role="img"
        aria-label={label}
        style={{ width: `${width}px`, height: `${height}px` }}
        onPointerMove={move}
        onPointerDown={move}
        onPointerLeave={() => setPointer(null)}
      />
      {pointer && marked.some((point) => point !== null) && (
        <div class="curves-tip" role="tooltip" style={beside(pointer.clientX, pointer.clientY)}>
          <Tip lines={lines} points={marked} />
        </div>
      )}
    </div>
  );
}
