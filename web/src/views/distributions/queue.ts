// Draws one thing after the other, a few milliseconds a frame: many charts that get their data at once do not stop the page.

const kBudget = 8; // ms a frame

const waiting = new Map<object, () => void>(); // by who wants it: a later wish takes the place of an earlier one
let planned = false;

export function enqueue(owner: object, draw: () => void): void {
  waiting.delete(owner);
  waiting.set(owner, draw);
  plan();
}

export function forget(owner: object): void {
  waiting.delete(owner);
}

function plan(): void {
  if (planned) return;
  planned = true;
  requestAnimationFrame(() => {
    planned = false;
    const end = performance.now() + kBudget;
    for (const [owner, draw] of waiting) {
      waiting.delete(owner);
      draw();
      if (performance.now() >= end) break;
    }
    if (waiting.size > 0) plan();
  });
}
