// Limits how often something is written: rare changes are written at once, constant changes every `kEvery` ms. A drag
// changes state sixty times a second, and browsers reject more than about a hundred changes of the address within half
// a minute.
const kSpare = 15; // writes without a wait
const kEvery = 400; // ms until one more is allowed

export interface Paced {
  plan: () => void; // write soon: at once, or when the next write is due
  flush: () => void; // write now what is planned
}

export function paced(write: () => void, now: () => number = () => performance.now()): Paced {
  let spare = kSpare;
  let counted = now();
  let planned = false;
  let timer: ReturnType<typeof setTimeout> | undefined;

  const due = (): number => {
    const gained = Math.floor((now() - counted) / kEvery);
    spare = Math.min(kSpare, spare + gained);
    counted = spare === kSpare ? now() : counted + gained * kEvery;
    return spare > 0 ? 0 : counted + kEvery - now();
  };
  const flush = () => {
    clearTimeout(timer);
    if (!planned) return;
    planned = false;
    due();
    spare = Math.max(0, spare - 1);
    write();
  };
  return {
    plan: () => {
      if (planned) return;
      planned = true;
      const wait = due();
      // Several changes of one moment are written once.
      if (wait <= 0) queueMicrotask(flush);
      else timer = setTimeout(flush, wait);
    },
    flush,
  };
}

const kLeastRest = 800; // ms
const kMostRest = 2000;

// The pause after `spent` ms of work that can wait: constant work takes at most 10 % of the time, cheap work runs about
// once per second. One slow answer must not stop it for long.
export const restAfter = (spent: number, urgent: boolean): number =>
  urgent ? 0 : Math.min(kMostRest, Math.max(kLeastRest, 9 * spent));

// Runs `work` one at a time; requests meanwhile run it once more, after a pause. Urgent requests end the pause.
export function sparing(work: (urgent: boolean) => Promise<void>): (urgent: boolean) => Promise<void> {
  let busy = false;
  let wanted = false;
  let urgent = false;
  let wake = () => {};
  const rest = (ms: number) =>
    new Promise<void>((resolve) => {
      wake = resolve;
      setTimeout(resolve, ms);
    });
  return async (now) => {
    urgent ||= now;
    if (busy) {
      wanted = true;
      if (now) wake();
      return;
    }
    busy = true;
    try {
      do {
        wanted = false;
        const whole = urgent;
        urgent = false;
        const began = performance.now();
        await work(whole);
        if (wanted) await rest(restAfter(performance.now() - began, urgent));
      } while (wanted);
    } finally {
      busy = false;
    }
  };
}
