// Spreads drawing over frames: as much per frame as keeps the page responsive, the rest in the next.
const kBudget = 10; // ms of a frame

const waiting = new Map<object, () => void>();
let planned = false;

function run(): void {
  planned = false;
  const until = performance.now() + kBudget;
  for (const [owner, draw] of waiting) {
    waiting.delete(owner);
    draw();
    if (performance.now() >= until) break;
  }
  plan();
}

function plan(): void {
  if (planned || waiting.size === 0) return;
  planned = true;
  if (document.hidden) setTimeout(run, 50);
  else requestAnimationFrame(run);
}

// Runs `draw` once in one of the next frames; if the same owner asks again before that, the newer one counts.
export function drawSoon(owner: object, draw: () => void): void {
  waiting.set(owner, draw);
  plan();
}

export function forget(owner: object): void {
  waiting.delete(owner);
}
