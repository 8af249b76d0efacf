// A canvas with a plot: draws it, shows what is under the pointer, sets the step cursor, and selects a range of steps
// by dragging.
import type { ComponentChildren } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';

import { drawSoon, forget } from '../../chart/frames';
import { cursorStep, dark, setCursor } from '../../state';
import { beside } from '../../ui/beside';
import { cleared } from '../../ui/canvas';
import type { Axis } from './axis';
import { theme } from './colours';
import type { Hit, Plot } from './plot';
import { stepWindow } from './settings';

export interface ChartProps {
  label: string;
  width: number; // CSS pixels
  height: number;
  plot: () => Plot; // created when it is first drawn
  onDrawn: () => void;
  tip: (hit: Hit) => ComponentChildren;
  // For users without a pointer: the data at the cursor, announced while the chart has the focus.
  current: (step: number) => ComponentChildren;
}

interface Drag {
  from: number; // CSS pixels
  to: number;
}

const kDrag = 6; // CSS pixels: less is a click

function draggedSteps({ from, to }: Drag, across: Axis): [number, number] | null {
  if (Math.abs(to - from) < kDrag) return null;
  const limited = [from, to].map((x) => across.value(Math.min(across.to, Math.max(across.from, x))));
  const first = Math.ceil(Math.min(...limited));
  const last = Math.floor(Math.max(...limited));
  return first < last ? [first, last] : null;
}

interface Pointer {
  x: number; // in the window
  y: number;
  hit: Hit;
}

export function Chart({ label, width, height, plot, onDrawn, tip, current }: ChartProps) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const [pointer, setPointer] = useState<Pointer | null>(null);
  const [drag, setDrag] = useState<Drag | null>(null);
  const [focused, setFocused] = useState(false);
  const dragged = useRef(false); // the click that ends a drag does not set the cursor
  const cursor = cursorStep.value;
  const isDark = dark.value;
  const hit = pointer?.hit ?? null;

  useEffect(() => setPointer(null), [plot]);
  useLayoutEffect(() => {
    drawSoon(canvas, () => {
      const element = canvas.current;
      const context = cleared(element, width, height);
      if (!element || !context) return;
      plot().draw(context, theme(element), { cursor, hit });
      onDrawn();
    });
  }, [plot, width, height, cursor, hit?.series, hit?.index, hit?.bin, isDark]);
  useEffect(() => () => forget(canvas), []);

  const move = (event: PointerEvent): void => {
    if (drag && event.buttons === 1) {
      setDrag({ ...drag, to: event.offsetX });
      return;
    }
    const found = plot().hit(event.offsetX, event.offsetY);
    setPointer(found && { x: event.clientX, y: event.clientY, hit: found });
  };
  const press = (event: PointerEvent): void => {
    move(event);
    if (!plot().across || event.button !== 0 || event.pointerType === 'touch') return; // touch scrolls the page
    setDrag({ from: event.offsetX, to: event.offsetX });
    canvas.current?.setPointerCapture(event.pointerId);
  };
  // The dragged range is requested again in more detail, in all cards.
  const release = (): void => {
    const { across } = plot();
    const chosen = drag && across && draggedSteps(drag, across);
    dragged.current = chosen !== null;
    setDrag(null);
    if (chosen) stepWindow.value = chosen;
  };
  const choose = (event: MouseEvent): void => {
    const step = dragged.current ? null : plot().stepAt(event.offsetX, event.offsetY);
    if (step !== null) setCursor(step);
  };
  return (
    <div class="dist-chart">
      <canvas
        ref={canvas}
        role="img"
        aria-label={label}
        style={{ width: `${width}px`, height: `${height}px` }}
        onPointerMove={move}
        onPointerDown={press}
        onPointerUp={release}
        onPointerCancel={() => setDrag(null)}
        onPointerLeave={() => setPointer(null)}
        onClick={choose}
        onDblClick={() => (stepWindow.value = null)}
        tabIndex={0}
        onFocus={(event) => setFocused(event.currentTarget.matches(':focus-visible'))}
        onBlur={() => setFocused(false)}
      />
      {drag && Math.abs(drag.to - drag.from) >= kDrag && (
        <div class="dist-drag" style={{ left: `${Math.min(drag.from, drag.to)}px`, width: `${Math.abs(drag.to - drag.from)}px` }} />
      )}
      {focused && !pointer && (
        <div class="dist-tip dist-tip-here" role="status">
          {current(cursor)}
        </div>
      )}
      {pointer && !drag && (
        <div class="dist-tip" role="tooltip" style={beside(pointer.x, pointer.y)}>
          {tip(pointer.hit)}
        </div>
      )}
    </div>
  );
}
