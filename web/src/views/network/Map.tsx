// The heat map of one run, or of the difference of two: layers are rows, steps go to the right.
//   pointer: numbers      click: choose the cell      click again: its graph node      double click on empty: all steps
//   drag: pan      ctrl + wheel: zoom      shift + wheel, sideways: pan      wheel: scroll the layers
//   arrows: move the cell cursor      enter: open the tensor      + - 0: zoom in, out, all steps
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';

import { drawSoon, forget } from '../../chart/frames';
import { cursorStep, dark, setCursor } from '../../state';
import { cleared } from '../../ui/canvas';
import { integer, middle } from '../../ui/format';
import { useSize } from '../../ui/hooks';
import type { Source } from './cells';
import { packed, rgbOf, type Scale, tableOf } from './colour';
import { cellAt, cellSize, type Frame, levelOf, limited, stepAt, xOf } from './frame';
import { drawAxis, drawCursor, drawMarks, drawSpikes, kAxis, kStrip } from './furniture';
import type { Mark } from './marks';
import { Painter } from './paint';
import type { Row } from './rows';
import { height, layer, opened, spikes, steps } from './settings';
import { Tip } from './Tip';

const kGutter = 200;
const kLetter = 6.6; // pixels of a letter of a name, about
const kNamed = 14; // CSS pixels of a row with a name
const kLeast = 1; // of any row
const kFar = 4; // pixels after which a press is a drag

export interface MapProps {
  label: string;
  source: Source;
  rows: Row[];
  whole: readonly [number, number]; // all steps, the end excluded
  interval: number; // the smallest one of the rows
  scale: Scale;
  marks: Mark[];
  names: boolean; // with the names of the layers
  want: (frame: Frame, rows: readonly Row[]) => void; // the tiles that are needed
  arrived: number; // changes when a tile arrives
  onChoose: (row: Row, step: number, again: boolean) => void;
  onOpen: (row: Row, step: number) => void;
}

export interface Place {
  x: number; // in the window
  y: number;
  row: number;
  step: number;
}

export function Map(props: MapProps) {
  const { rows, whole, source } = props;
  const root = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const buffer = useRef<HTMLCanvasElement | null>(null);
  const painter = useRef(new Painter());
  const size = useSize(root);
  const [top, setTop] = useState(0);
  const [place, setPlace] = useState<Place | null>(null);
  const [drag, setDrag] = useState<{ x: number; y: number; range: readonly [number, number]; top: number; moved: boolean } | null>(null);
  const [focused, setFocused] = useState(false);
  const isDark = dark.value;
  const longest = rows.reduce((most, row) => Math.max(most, row.label.length + 2 * row.depth + (row.group ? 2 : 0)), 0);
  const gutter = props.names ? Math.min(kGutter, Math.round(size.width * 0.35), Math.ceil(longest * kLetter) + 20) : 0;
  const width = Math.max(0, size.width - gutter);
  const tall = Math.max(0, size.height - kStrip - kAxis);
  const rowHeight = height.value === 'names' ? kNamed + 2 : Math.min(36, Math.max(kLeast, tall / Math.max(1, rows.length)));
  const total = rowHeight * rows.length;
  const offset = Math.min(top, Math.max(0, total - tall));
  const firstRow = Math.max(0, Math.floor(offset / rowHeight));
  const endRow = Math.min(rows.length, Math.ceil((offset + tall) / rowHeight));
  const [lo, hi] = limited(steps.value ?? whole, whole);
  const frame: Frame = { lo, hi, width, level: levelOf(hi - lo, width, props.interval) };
  const shown = rows.slice(firstRow, endRow);
  const cursor = cursorStep.value;
  const chosen = rows.findIndex((row) => row.id === layer.value);
  const scaleKey = JSON.stringify([props.scale, isDark]);
  const shownKey = shown.map((row) => row.id).join('\n');

  useLayoutEffect(() => {
    if (width > 0) props.want(frame, shown);
  }, [lo, hi, width, frame.level, shownKey, source, props.arrived]);

  useLayoutEffect(() => {
    if (width <= 0 || tall <= 0) return;
    drawSoon(canvas, () => {
      const element = canvas.current;
      const context = cleared(element, size.width, size.height);
      if (!element || !context) return;
      const style = getComputedStyle(element);
      const read = (name: string) => style.getPropertyValue(name).trim();
      const palette = {
        table: tableOf(props.scale.diverging, isDark),
        nan: packed(rgbOf(read('--nan'))),
        infinity: packed(rgbOf(read('--inf'))),
        undefined: packed(rgbOf(read('--raised'))),
      };
      const picture = painter.current.paint(source, shown, frame, props.scale, scaleKey, palette);
      const cellWidth = (cellSize(frame.level) / (hi - lo)) * width;
      const left = gutter + xOf(frame, picture.firstCell * cellSize(frame.level));
      const up = kStrip + firstRow * rowHeight - offset;
      context.save();
      context.beginPath();
      context.rect(gutter, kStrip, width, tall);
      context.clip();
      if (picture.image) {
        const between = (buffer.current ??= document.createElement('canvas'));
        between.width = picture.image.width;
        between.height = picture.image.height;
        between.getContext('2d')?.putImageData(picture.image, 0, 0);
        context.imageSmoothingEnabled = false;
        context.drawImage(between, left, up, picture.image.width * cellWidth, picture.image.height * rowHeight);
      }
      const look = { text: read('--text'), muted: read('--muted'), grid: read('--grid'), card: read('--card'), nan: read('--nan'), accent: read('--accent'), inf: read('--inf') };
      const area = { left: gutter, top: kStrip, width, height: Math.min(tall, total) };
      if (rowHeight >= 8) {
        context.fillStyle = look.card;
        for (let r = 1; r < shown.length; ++r) context.fillRect(gutter, Math.round(up + r * rowHeight), width, 1);
      }
      if (spikes.value) drawSpikes(context, picture, left, up, cellWidth, rowHeight, isDark);
      context.restore();
      drawMarks(context, props.marks, frame, area, look);
      drawAxis(context, frame, area, look);
      const box = chosen >= 0 ? { top: kStrip + chosen * rowHeight - offset, height: rowHeight } : null;
      drawCursor(context, frame, area, look, cursor, box, cellSize(frame.level));
      element.dataset['complete'] = picture.complete ? 'yes' : 'no';
    });
  }, [source, shownKey, lo, hi, width, tall, gutter, rowHeight, offset, scaleKey, props.arrived, props.marks, cursor, chosen, spikes.value]);
  useEffect(() => () => forget(canvas), []);

  const placeAt = (event: MouseEvent): Place | null => {
    const box = canvas.current!.getBoundingClientRect();
    const x = event.clientX - box.left - gutter;
    const y = event.clientY - box.top - kStrip;
    if (x < 0 || x >= width || y < 0 || y >= tall) return null;
    const row = Math.floor((y + offset) / rowHeight);
    if (row >= rows.length) return null;
    return { x: event.clientX, y: event.clientY, row, step: Math.min(whole[1] - 1, Math.max(whole[0], Math.floor(stepAt(frame, x)))) };
  };
  const show = (range: readonly [number, number]): void => {
    const next = limited(range, whole);
    steps.value = next[0] <= whole[0] && next[1] >= whole[1] ? null : next;
  };
  const zoom = (factor: number, at = (lo + hi) / 2): void => show([at - (at - lo) * factor, at + (hi - at) * factor]);
  const pan = (by: number): void => show([lo + by, hi + by]);

  const press = (event: PointerEvent): void => {
    if (event.button !== 0) return;
    setDrag({ x: event.clientX, y: event.clientY, range: [lo, hi], top: offset, moved: false });
    canvas.current?.setPointerCapture(event.pointerId);
  };
  const move = (event: PointerEvent): void => {
    if (drag && event.buttons === 1) {
      const dx = event.clientX - drag.x;
      const dy = event.clientY - drag.y;
      if (!drag.moved && Math.hypot(dx, dy) < kFar) return;
      if (!drag.moved) setDrag({ ...drag, moved: true });
      setPlace(null);
      const by = (-dx / width) * (drag.range[1] - drag.range[0]);
      show([drag.range[0] + by, drag.range[1] + by]);
      setTop(Math.min(Math.max(0, drag.top - dy), Math.max(0, total - tall)));
      return;
    }
    setPlace(placeAt(event));
  };
  const release = (event: PointerEvent): void => {
    const was = drag;
    setDrag(null);
    if (!was || was.moved) return;
    const at = placeAt(event);
    const row = at && rows[at.row];
    if (!row) return;
    const cell = (step: number) => cellAt(step, frame.level);
    props.onChoose(row, at.step, row.id === layer.peek() && cell(at.step) === cell(cursorStep.peek()));
  };
  // Not passive, so that the page neither scrolls nor zooms with it.
  useEffect(() => {
    const element = canvas.current;
    const wheel = (event: WheelEvent): void => {
      const sideways = Math.abs(event.deltaX) > Math.abs(event.deltaY);
      if (event.ctrlKey || event.metaKey) {
        const box = element!.getBoundingClientRect();
        zoom(Math.exp(Math.max(-1, Math.min(1, event.deltaY / 300))), stepAt(frame, Math.min(width, Math.max(0, event.clientX - box.left - gutter))));
      } else if (sideways || event.shiftKey) pan(((sideways ? event.deltaX : event.deltaY) / width) * (hi - lo));
      else if (total > tall) setTop(Math.min(Math.max(0, offset + event.deltaY), total - tall));
      else return;
      event.preventDefault();
      setPlace(null);
    };
    element?.addEventListener('wheel', wheel, { passive: false });
    return () => element?.removeEventListener('wheel', wheel);
  });

  const seen = (row: number): void => {
    if (row * rowHeight < offset) setTop(row * rowHeight);
    else if ((row + 1) * rowHeight > offset + tall) setTop((row + 1) * rowHeight - tall);
  };
  const go = (row: number, step: number): void => {
    const to = Math.min(rows.length - 1, Math.max(0, row));
    layer.value = rows[to]?.id ?? '';
    seen(to);
    const next = Math.min(whole[1] - 1, Math.max(whole[0], step));
    setCursor(next);
    if (next < lo || next >= hi) pan(next < lo ? next - lo - (hi - lo) / 4 : next - hi + (hi - lo) / 4);
  };
  const key = (event: KeyboardEvent): void => {
    if (event.ctrlKey || event.metaKey || event.altKey || rows.length === 0) return;
    const by = Math.max(cellSize(frame.level), Math.round(props.interval)) * (event.shiftKey ? 10 : 1);
    const at = Math.max(0, chosen);
    const page = Math.max(1, Math.floor(tall / rowHeight) - 1);
    const known: Record<string, () => void> = {
      ArrowLeft: () => go(at, cursor - by),
      ArrowRight: () => go(at, cursor + by),
      ArrowUp: () => go(chosen < 0 ? 0 : at - (event.shiftKey ? 10 : 1), cursor),
      ArrowDown: () => go(chosen < 0 ? 0 : at + (event.shiftKey ? 10 : 1), cursor),
      PageUp: () => go(at - page, cursor),
      PageDown: () => go(at + page, cursor),
      Home: () => go(at, whole[0]),
      End: () => go(at, whole[1] - 1),
      Enter: () => chosen >= 0 && props.onOpen(rows[chosen]!, cursor),
      '+': () => zoom(0.5, cursor),
      '=': () => zoom(0.5, cursor),
      '-': () => zoom(2, cursor),
      '0': () => (steps.value = null),
    };
    const action = known[event.key];
    if (!action) return;
    event.preventDefault();
    event.stopPropagation();
    setPlace(null);
    setFocused(true);
    action();
  };
  const hovered = place && rows[place.row];
  const current = chosen >= 0 ? rows[chosen] : undefined;
  const cellRange = (step: number): [number, number] => {
    const first = cellAt(step, frame.level) * cellSize(frame.level);
    return [first, first + cellSize(frame.level) - 1];
  };
  return (
    <div class="net-map" ref={root}>
      <canvas
        ref={canvas}
        class={drag?.moved ? 'net-dragging' : ''}
        role="application"
        aria-label={`${props.label}: ${integer(rows.length)} rows, steps ${integer(Math.ceil(lo))} to ${integer(Math.floor(hi - 1e-9))}. Arrow keys move the cell cursor, enter opens the tensor, plus and minus zoom.`}
        data-rows={rows.length}
        data-level={frame.level}
        data-steps={`${lo},${hi}`}
        data-row-height={rowHeight}
        data-left={gutter}
        data-top={kStrip - offset}
        tabIndex={0}
        onPointerDown={press}
        onPointerMove={move}
        onPointerUp={release}
        onPointerCancel={() => setDrag(null)}
        onPointerLeave={() => setPlace(null)}
        onDblClick={(event) => placeAt(event) === null && (steps.value = null)}
        onKeyDown={key}
        onFocus={(event) => setFocused(event.currentTarget.matches(':focus-visible'))}
        onBlur={() => setFocused(false)}
      />
      {props.names && <Names rows={rows} first={firstRow} end={endRow} rowHeight={rowHeight} up={kStrip - offset} tall={tall} width={gutter} />}
      {total > tall + 1 && (
        <div class="net-bar" style={{ top: `${kStrip}px`, height: `${tall}px` }}>
          <i style={{ top: `${(offset / total) * 100}%`, height: `${(tall / total) * 100}%` }} />
        </div>
      )}
      {hovered && !drag?.moved && <Tip source={source} row={hovered} step={place.step} range={cellRange(place.step)} level={frame.level} at={place} />}
      {focused && !place && current && <Tip source={source} row={current} step={cursor} range={cellRange(cursor)} level={frame.level} at={null} />}
    </div>
  );
}

interface NamesProps {
  rows: Row[];
  first: number;
  end: number;
  rowHeight: number;
  up: number;
  tall: number;
  width: number;
}

// As many names as have room; groups can be opened.
function Names({ rows, first, end, rowHeight, up, tall, width }: NamesProps) {
  const each = Math.max(1, Math.ceil(kNamed / rowHeight));
  const most = Math.floor((width - 16) / kLetter);
  const toggle = (id: string) => {
    const old = opened.peek();
    opened.value = old.includes(id) ? old.filter((one) => one !== id) : [...old, id];
  };
  const shown: { row: Row; at: number }[] = [];
  for (let r = first - (first % each); r < end; r += each) {
    const row = rows[r];
    const y = up + r * rowHeight;
    if (row && y >= kStrip - rowHeight / 2 && y + Math.min(rowHeight, kNamed) <= kStrip + tall + 2) shown.push({ row, at: y });
  }
  return (
    <div class="net-names" style={{ width: `${width}px` }}>
      {shown.map(({ row, at }) => {
        const look = { top: `${at + Math.min(0, (rowHeight - kNamed) / 2) + Math.max(0, (rowHeight - kNamed) / 2)}px`, paddingLeft: `${8 + 12 * row.depth}px` };
        const text = middle(row.label, most - 2 * row.depth - (row.group ? 2 : 0));
        const on = row.id === layer.value ? ' net-chosen' : '';
        return row.group ? (
          <button key={row.id} type="button" class={`net-name net-group${on}`} style={look} title={middle(row.title, 300)} aria-expanded={row.open} onClick={() => toggle(row.id)}>
            {row.open ? '▾ ' : '▸ '}
            {text}
          </button>
        ) : (
          <span key={row.id} class={`net-name${on}`} style={look} title={middle(row.title, 300)}>
            {text}
          </span>
        );
      })}
    </div>
  );
}
