// What pointers, the wheel and keys mean on a chart.
//   click: the step cursor        drag: zoom       shift + drag: pan      alt + drag, or in selection mode: mark a range
//   double click: everything      ctrl + wheel (in full screen: wheel): zoom      shift + wheel, sideways: pan
//   drag on the y axis: zoom y    + - 0: zoom in, out, everything      shift + arrows: pan
//   on a touch screen, tap: the step cursor      two fingers: zoom and pan      one finger up and down: the page scrolls
import { Pinch } from './pinch';
import { type Frame, toValue } from './scale';

export type Pair = [number, number];

export interface Gestures {
  frame: () => Frame | null;
  selecting: () => boolean;
  wheelZooms: () => boolean;
  hover: (x: number | null, px: number, py: number) => void;
  click: (x: number, py: number) => () => void; // returns an undo: the click may be the first half of a double click
  drag: (range: Pair | null) => void; // while marking
  zoom: (range: Pair) => void;
  zoomY: (range: Pair) => void;
  select: (range: Pair, py: number) => void;
  reset: () => void;
}

const kFar = 5; // pixels after which a press is a drag
const kDouble = 1000; // ms: clicks with a longer pause are not a double click

// The range, `pixels` farther to the right, so that logarithmic axes pan uniformly on the screen.
export function panned(frame: Frame, pixels: number): Pair {
  return [toValue(frame.x, frame.left + pixels), toValue(frame.x, frame.right + pixels)];
}

export function zoomed(frame: Frame, at: number, factor: number): Pair {
  return [toValue(frame.x, at - (at - frame.left) * factor), toValue(frame.x, at + (frame.right - at) * factor)];
}

export function attach(element: HTMLElement, to: Gestures): () => void {
  let begun: { px: number; py: number; frame: Frame; mode: 'zoom' | 'pan' | 'select' | 'y'; moved: boolean } | null =
    null;
  const pinch = new Pinch();
  let clicked: { at: number; undo: () => void } | null = null; // the first of several successive clicks

  const click = (event: PointerEvent, frame: Frame, px: number, py: number) => {
    if (px < frame.left || px > frame.right) return;
    const undo = to.click(toValue(frame.x, px), py);
    const follows = clicked !== null && event.timeStamp - clicked.at < kDouble;
    clicked = { at: event.timeStamp, undo: follows && clicked ? clicked.undo : undo };
  };
  const double = (event: MouseEvent) => {
    if (clicked && event.timeStamp - clicked.at < kDouble) clicked.undo();
    clicked = null;
    to.reset();
  };
  const place = (event: MouseEvent): Pair => {
    const box = element.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  };
  const between = (frame: Frame, a: number, b: number): Pair => {
    const inside = (px: number) => Math.max(frame.left, Math.min(frame.right, px));
    return [toValue(frame.x, inside(Math.min(a, b))), toValue(frame.x, inside(Math.max(a, b)))];
  };

  const down = (event: PointerEvent) => {
    const frame = to.frame();
    if (!frame || event.button !== 0) return;
    const [px, py] = place(event);
    if (event.pointerType === 'touch') return pinch.down(event.pointerId, [px, py], frame);
    const mode = px < frame.left ? 'y' : event.shiftKey ? 'pan' : event.altKey || to.selecting() ? 'select' : 'zoom';
    begun = { px, py, frame, mode, moved: false };
    element.setPointerCapture(event.pointerId);
  };
  const move = (event: PointerEvent) => {
    const frame = to.frame();
    if (!frame) return;
    const [px, py] = place(event);
    const pinched = pinch.move(event.pointerId, [px, py]);
    if (pinched) {
      to.hover(null, 0, 0);
      return to.zoom(pinched);
    }
    if (begun && (begun.moved || Math.abs(px - begun.px) > kFar || Math.abs(py - begun.py) > kFar)) {
      begun.moved = true;
      if (begun.mode === 'pan') to.zoom(panned(begun.frame, begun.px - px));
      else if (begun.mode !== 'y') to.drag(between(begun.frame, begun.px, px));
    }
    const over = px >= frame.left - 4 && px <= frame.right + 4;
    to.hover(over ? toValue(frame.x, Math.max(frame.left, Math.min(frame.right, px))) : null, px, py);
  };
  const up = (event: PointerEvent) => {
    const was = begun;
    begun = null;
    to.drag(null);
    const frame = to.frame();
    const [px, py] = place(event);
    if (event.pointerType === 'touch') {
      if (pinch.up(event.pointerId) && frame) click(event, frame, px, py);
      return;
    }
    if (!was) return;
    if (!was.moved) {
      click(event, was.frame, px, py);
    } else if (was.mode === 'y') {
      if (Math.abs(py - was.py) > kFar)
        to.zoomY([toValue(was.frame.y, Math.max(py, was.py)), toValue(was.frame.y, Math.min(py, was.py))]);
    } else if (was.mode !== 'pan' && Math.abs(px - was.px) > kFar) {
      const range = between(was.frame, was.px, px);
      if (was.mode === 'select') to.select(range, py);
      else to.zoom(range);
    }
  };
  const leave = () => {
    if (!begun) to.hover(null, 0, 0);
  };
  const cancel = (event: PointerEvent) => {
    pinch.up(event.pointerId);
    begun = null;
    to.drag(null);
    to.hover(null, 0, 0);
  };
  const wheel = (event: WheelEvent) => {
    const frame = to.frame();
    if (!frame) return;
    const sideways = Math.abs(event.deltaX) > Math.abs(event.deltaY);
    if (event.ctrlKey || event.metaKey || (to.wheelZooms() && !sideways && !event.shiftKey)) {
      event.preventDefault();
      const at = Math.max(frame.left, Math.min(frame.right, place(event)[0]));
      to.zoom(zoomed(frame, at, Math.exp(Math.max(-1, Math.min(1, event.deltaY / 300)))));
    } else if (sideways || event.shiftKey) {
      event.preventDefault();
      to.zoom(panned(frame, sideways ? event.deltaX : event.deltaY));
    }
  };
  const key = (event: KeyboardEvent) => {
    const frame = to.frame();
    if (!frame || event.ctrlKey || event.metaKey || event.altKey) return;
    const middle = (frame.left + frame.right) / 2;
    const step = (frame.right - frame.left) / 5;
    const known: Record<string, () => void> = {
      '+': () => to.zoom(zoomed(frame, middle, 0.5)),
      '=': () => to.zoom(zoomed(frame, middle, 0.5)),
      '-': () => to.zoom(zoomed(frame, middle, 2)),
      '0': () => to.reset(),
    };
    if (event.shiftKey) {
      known.ArrowLeft = () => to.zoom(panned(frame, -step));
      known.ArrowRight = () => to.zoom(panned(frame, step));
    }
    const action = known[event.key];
    if (!action) return;
    event.preventDefault();
    event.stopPropagation();
    action();
  };

  const listeners: [string, (event: never) => void][] = [
    ['pointerdown', down],
    ['pointermove', move],
    ['pointerup', up],
    ['pointerleave', leave],
    ['pointercancel', cancel],
    ['wheel', wheel],
    ['dblclick', double],
    ['keydown', key],
  ];
  for (const [name, listener] of listeners)
    element.addEventListener(name, listener as EventListener, { passive: false });
  return () => {
    for (const [name, listener] of listeners) element.removeEventListener(name, listener as EventListener);
  };
}
