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
