// How often something may be written: what changes now and then is written at once, what changes all the time every
// `kEvery` ms. A drag changes state sixty times a second, and browsers refuse more than about a hundred changes of the
// address within half a minute.
const kSpare = 15; // writes that need not wait
const kEvery = 400; // ms after which there is one more

export interface Paced {
  plan: () => void; // write soon: before anything else happens, or when the next one is due
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
      // Several changes of one moment are one.
      if (wait <= 0) queueMicrotask(flush);
      else timer = setTimeout(flush, wait);
    },
    flush,
  };
}

const kLeastRest = 800; // ms
const kMostRest = 2000;

// How long work that can wait rests after `spent` ms of it: at most a tenth of the time goes into it where it is done
// again and again, and it is done about once a second where it is cheap. One slow answer must not stop it for long.
export const restAfter = (spent: number, urgent: boolean): number =>
  urgent ? 0 : Math.min(kMostRest, Math.max(kLeastRest, 9 * spent));

// `work` is under way once at a time; what asks for it meanwhile has it done once more, after a rest. Who is urgent
// ends the rest.
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
