// Many small requests of one moment travel as one. Those that are given up before they travel never do; a request
// whose every asker has given up is aborted.

export interface Batched<Key, Value> {
  ask(group: string, key: Key, signal?: AbortSignal): Promise<Value>;
}

interface Waiting<Key, Value> {
  key: Key;
  signal: AbortSignal | undefined;
  resolve: (value: Value) => void;
  reject: (reason: unknown) => void;
}

const aborted = () => new DOMException('Given up.', 'AbortError');

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
        if (value === undefined) one.reject(new Error('The server answered less than was asked.'));
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
    // Charts ask while they are laid out, all of one moment in one task: the request leaves right after it.
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
