import { useEffect, useRef } from 'preact/hooks';

import { badSteps, cursor, cursorStep, setCursor, stepRange, stepSize } from '../state';
import { Field } from '../ui/Field';
import { IconButton } from '../ui/IconButton';
import { integer } from '../ui/format';
import { playing } from './keys';

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

export function CursorBar() {
  usePlay();
  const track = useRef<HTMLDivElement>(null);
  const [first, last] = stepRange.value;
  const step = cursorStep.value;
  const share = (at: number) => `${last > first ? (100 * (at - first)) / (last - first) : 100}%`;
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
        {badSteps.value.slice(0, 50).map((bad) => (
          <button
            key={`${bad.run}:${bad.step}`}
            type="button"
            class="track-bad"
            tabIndex={-1}
            style={{ left: share(bad.step) }}
            aria-label={`${bad.run} is not finite from step ${integer(bad.step)}`}
            title={`${bad.run}: not finite from step ${integer(bad.step)}`}
            onPointerDown={(event) => event.stopPropagation()}
            onClick={() => setCursor(bad.step)}
          />
        ))}
        <div class="track-thumb" style={{ left: share(step) }} />
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
