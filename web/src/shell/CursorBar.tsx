import { useEffect, useRef } from 'preact/hooks';

import { cursor, cursorStep, setCursor, stepRange, stepSize } from '../state';
import { Field } from '../ui/Field';
import { IconButton } from '../ui/IconButton';
import { integer, plural } from '../ui/format';
import { useSize } from '../ui/hooks';
import { playing } from './keys';
import { marks, merged } from './marks';

const kWhole = 20; // seconds to play all steps

function usePlay(): void {
  const on = playing.value;
  useEffect(() => {
    if (!on) return;
    const [first, last] = stepRange.peek();
    // At the end there is nothing left to play: start again.
    let at = cursorStep.peek() >= last ? first : cursorStep.peek();
    let before = performance.now();
    let frame = requestAnimationFrame(function move(now: number) {
      const [from, to] = stepRange.peek();
      at += ((to - from) * Math.min(100, now - before)) / 1000 / kWhole;
      before = now;
      if (at >= to) {
        setCursor(null);
        playing.value = false;
        return;
      }
      setCursor(at);
      frame = requestAnimationFrame(move);
    });
    return () => cancelAnimationFrame(frame);
  }, [on]);
}

const kNameRoom = 52; // pixels for the name of a mark

// Beside the slider, not in it: a slider has no buttons inside.
function Marks({ share, width }: { share: (step: number) => number; width: number }) {
  const shown = merged(marks.value, (step) => share(step) * width);
  return (
    <ul class="track-marks" aria-label="Alerts and captures">
      {shown.map((mark, i) => {
        const next = shown[i + 1];
        const named = !next || (share(next.step) - share(mark.step)) * width >= kNameRoom;
        const what = mark.count === 1 ? mark.name : `${mark.name} and ${plural(mark.count - 1, 'other')}`;
        return (
          <li key={mark.step} style={{ position: 'absolute', left: `${100 * share(mark.step)}%` }}>
            <button
              type="button"
              class={`track-mark mark-${mark.look}`}
              data-mark={mark.step}
              aria-label={`${what} at step ${integer(mark.step)}`}
              title={`${mark.text}\nn: next, N: previous`}
              onClick={() => setCursor(mark.step)}
            />
            {named && (
              <span class={`track-name mark-${mark.look}`} aria-hidden="true">
                {mark.name}
              </span>
            )}
          </li>
        );
      })}
    </ul>
  );
}

export function CursorBar() {
  usePlay();
  const track = useRef<HTMLDivElement>(null);
  const [first, last] = stepRange.value;
  const step = cursorStep.value;
  const { width } = useSize(track);
  const part = (at: number) => (last > first ? (at - first) / (last - first) : 1);
  const share = (at: number) => `${100 * part(at)}%`;
  const digits = Math.max(integer(first).length, integer(last).length); // the same for all steps, so that nothing moves
  const take = (event: PointerEvent) => {
    const box = track.current?.getBoundingClientRect();
    if (!box) return;
    const at = Math.max(0, Math.min(1, (event.clientX - box.left) / box.width));
    playing.value = false;
    setCursor(at === 1 ? null : first + at * (last - first));
  };
  const onKey = (event: KeyboardEvent) => {
    const by = stepSize.peek() * (event.shiftKey ? 10 : 1);
    const known: Record<string, number | null> = {
      ArrowLeft: step - by,
      ArrowDown: step - by,
      ArrowRight: step + by,
      ArrowUp: step + by,
      PageDown: step - (last - first) / 20,
      PageUp: step + (last - first) / 20,
      Home: first,
      End: null,
    };
    const to = known[event.key];
    if (to === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    setCursor(to);
  };
  return (
    <footer class="cursor-bar" aria-label="Step cursor">
      <IconButton
        icon={playing.value ? 'pause' : 'play'}
        label={playing.value ? 'Pause (space)' : 'Play (space)'}
        pressed={playing.value}
        onClick={() => (playing.value = !playing.value)}
      />
      <label class="cursor-step" style={{ '--digits': digits }}>
        <span class="muted">step</span>
        <Field
          inputMode="numeric"
          label="Step"
          value={integer(step)}
          onCommit={(text) => {
            const typed = text.replace(/\u2212/g, '-').replace(/[^0-9.-]/g, '');
            if (typed !== '' && Number.isFinite(Number(typed))) setCursor(Number(typed));
          }}
        />
      </label>
      <div class="track-place">
      <div
        class="track"
        ref={track}
        role="slider"
        tabIndex={0}
        aria-label="Step cursor"
        aria-valuemin={first}
        aria-valuemax={last}
        aria-valuenow={step}
        aria-valuetext={`step ${integer(step)}`}
        onKeyDown={onKey}
        onPointerDown={(event) => {
          event.currentTarget.setPointerCapture(event.pointerId);
          take(event);
        }}
        onPointerMove={(event) => event.buttons & 1 && take(event)}
      >
        <div class="track-line" />
        <div class="track-done" style={{ width: share(step) }} />
        <div class="track-thumb" style={{ left: share(step) }} />
      </div>
      <Marks share={part} width={width} />
      </div>
      <IconButton
        icon="last"
        label="Follow the newest step (End)"
        pressed={cursor.value === null}
        onClick={() => setCursor(null)}
      />
      <span class="cursor-hint muted" aria-hidden="true">
        ← → step · space play · ? keys
      </span>
    </footer>
  );
}
