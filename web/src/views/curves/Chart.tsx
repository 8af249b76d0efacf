// The canvas of a card: draws the curves, and says what each of them has nearest to the pointer.
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';

import { inkOf } from '../../chart/painter';
import { dark } from '../../state';
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
    const element = canvas.current;
    const context = element?.getContext('2d');
    if (!element || !context || width <= 0 || height <= 0) return;
    const density = Math.min(3, window.devicePixelRatio || 1);
    element.width = Math.round(width * density);
    element.height = Math.round(height * density);
    context.setTransform(density, 0, 0, density, 0, 0);
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
        <div class="curves-tip" role="tooltip" style={besides(pointer)}>
          <Tip lines={lines} points={marked} />
        </div>
      )}
    </div>
  );
}

// In the window, on the side of the pointer that has more room.
function besides({ clientX: x, clientY: y }: Pointer): Record<string, string> {
  const leftHalf = x < window.innerWidth / 2;
  const topHalf = y < window.innerHeight / 2;
  return {
    left: leftHalf ? `${x + 14}px` : 'auto',
    right: leftHalf ? 'auto' : `${window.innerWidth - x + 14}px`,
    top: topHalf ? `${y + 10}px` : 'auto',
    bottom: topHalf ? 'auto' : `${window.innerHeight - y + 10}px`,
  };
}
