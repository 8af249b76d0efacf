// Spreads drawing over frames: as much per frame as keeps the page responsive, the rest in the next. What comes first in a
// frame is drawn at once, so that the answer of the server is on the screen in the same frame.
import { signal } from '@preact/signals';
import { useEffect, useState } from 'preact/hooks';

const kBudget = 10; // ms of a frame
const kLatest = 500; // ms that other things wait for the first chart

const drawnOnce = signal(false);

const waiting = new Map<object, () => void>();
let planned = false;
let spent = 0; // ms in this frame

function take(draw: () => void): void {
  const began = performance.now();
  draw();
  spent += performance.now() - began;
  drawnOnce.value = true;
}

function run(): void {
  planned = false;
  spent = 0;
  for (const [owner, draw] of waiting) {
    waiting.delete(owner);
    take(draw);
    if (spent >= kBudget) break;
  }
  if (spent > 0 || waiting.size > 0) plan();
}

function plan(): void {
  if (planned) return;
  planned = true;
  if (document.hidden) setTimeout(run, 50);
  else requestAnimationFrame(run);
}

// Runs `draw` once: now, or in one of the next frames; if the same owner asks again before that, the newer one counts.
export function drawSoon(owner: object, draw: () => void): void {
  if (waiting.size === 0 && spent < kBudget) take(draw);
  else waiting.set(owner, draw);
  plan();
}

export function forget(owner: object): void {
  waiting.delete(owner);
}

// False until the page has drawn a chart, if there is one: for what may come after it.
export function useAfterFirstChart(): boolean {
  const [late, setLate] = useState(drawnOnce.peek());
  useEffect(() => {
    const timer = setTimeout(() => setLate(true), kLatest);
    return () => clearTimeout(timer);
  }, []);
  return late || drawnOnce.value;
}
