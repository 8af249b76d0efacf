// Combines small requests of one moment into one. Requests that are cancelled before that are not sent; a request that
// all callers have cancelled is aborted.

export interface Batched<Key, Value> {
  ask(group: string, key: Key, signal?: AbortSignal): Promise<Value>;
}

interface Waiting<Key, Value> {
  key: Key;
  signal: AbortSignal | undefined;
  resolve: (value: Value) => void;
  reject: (reason: unknown) => void;
}

const aborted = () => new DOMException('Aborted.', 'AbortError');

export function batch<Key, Value>(
  send: (group: string, keys: Key[], signal: AbortSignal) => Promise<Value[]>,
  most: number,
  atOnce = 3,
): Batched<Key, Value> {
  const groups = new Map<string, Waiting<Key, Value>[]>();
  let planned = false;
  let running = 0;

  async function travel(group: string, waiting: Waiting<Key, Value>[]): Promise<void> {
    const controller = new AbortController();
    let left = waiting.length;
    for (const one of waiting)
      one.signal?.addEventListener('abort', () => {
        one.reject(aborted());
        if (--left === 0) controller.abort();
      });
    ++running;
    try {
      const values = await send(
        group,
        waiting.map((one) => one.key),
        controller.signal,
      );
      waiting.forEach((one, i) => {
        const value = values[i];
        if (value === undefined) one.reject(new Error('The answer of the server is incomplete.'));
        else one.resolve(value);
      });
    } catch (error) {
      for (const one of waiting) one.reject(error);
    } finally {
      --running;
      plan();
    }
  }

  function flush(): void {
    planned = false;
    for (const [group, all] of groups) {
      if (running >= atOnce) return;
      groups.delete(group);
      const live = all.filter((one) => {
        if (one.signal?.aborted) one.reject(aborted());
        return !one.signal?.aborted;
      });
      if (live.length > most) groups.set(group, live.slice(most));
      if (live.length > 0) void travel(group, live.slice(0, most));
    }
    if (groups.size > 0 && running < atOnce) plan();
  }

  function plan(): void {
    if (planned || groups.size === 0) return;
    planned = true;
    // Charts ask during layout, all in one task: the request is sent right after it.
    queueMicrotask(flush);
  }

  return {
    ask(group, key, signal) {
      return new Promise<Value>((resolve, reject) => {
        const one = { key, signal, resolve, reject };
        const others = groups.get(group);
        if (others) others.push(one);
        else groups.set(group, [one]);
        plan();
      });
    },
  };
}
