// Ranges on axes, by pointer: dragging along an axis creates one, its ends and its middle can be dragged, a click
// removes it.
import { useRef } from 'preact/hooks';

import { type Axis, brushOf, spanOf, without } from './axes';
import { type Layout, pixelOf, placeAt } from './draw_parallel';
import { brushes } from './settings';

const kReach = 14; // CSS pixels beside an axis
const kGrip = 5; // around the ends of a range
const kDrag = 3; // less is a click

interface Drag {
  axis: number;
  begun: number; // where the pointer went down
  fixed: number | null; // the fixed end, a position on the axis; null: both move
  span: [number, number]; // before the drag
  moved: boolean;
}

export interface Brushing {
  over: (x: number, y: number) => boolean; // the pointer is at an axis
  down: (x: number, y: number) => boolean; // true: the event is handled
  move: (y: number) => boolean;
  up: () => void;
}

export function useBrush(axes: readonly Axis[], layout: Layout): Brushing {
  const drag = useRef<Drag | null>(null);
  const axisAt = (x: number): number => layout.xs.findIndex((at) => Math.abs(at - x) <= kReach);
  const within = (y: number): boolean => y >= layout.top - 8 && y <= layout.bottom + 8;
  return {
    over: (x, y) => axisAt(x) >= 0 && within(y),
    down: (x, y) => {
      const at = axisAt(x);
      const axis = axes[at];
      if (!axis || !within(y)) return false;
      const span = spanOf(axis, brushes.peek()[axis.column.id]);
      const begun = placeAt(layout, y);
      drag.current = { axis: at, begun: y, fixed: begun, span: span ?? [begun, begun], moved: false };
      if (!span) return true;
      const [low, high] = span.map((place) => pixelOf(layout, place)) as [number, number];
      if (Math.abs(y - low) <= kGrip) drag.current.fixed = span[1];
      else if (Math.abs(y - high) <= kGrip) drag.current.fixed = span[0];
      else if (y < low && y > high) drag.current.fixed = null;
      return true;
    },
    move: (y) => {
      const now = drag.current;
      const axis = now && axes[now.axis];
      if (!now || !axis) return false;
      now.moved ||= Math.abs(y - now.begun) >= kDrag;
      if (!now.moved) return true;
      let [from, to] = [now.fixed ?? 0, placeAt(layout, y)];
      if (now.fixed === null) {
        const [low, high] = now.span;
        const by = Math.min(1 - high, Math.max(-low, placeAt(layout, y) - placeAt(layout, now.begun)));
        [from, to] = [low + by, high + by];
      }
      const brush = brushOf(axis, from, to);
      const others = without(brushes.peek(), axis.column.id);
      brushes.value = brush ? { ...others, [axis.column.id]: brush } : others;
      return true;
    },
    up: () => {
      const now = drag.current;
      const axis = now && axes[now.axis];
      drag.current = null;
      if (now && axis && !now.moved) brushes.value = without(brushes.peek(), axis.column.id);
    },
  };
}
