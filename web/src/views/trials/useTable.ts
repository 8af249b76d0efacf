// The numbers of the trials' metrics: requested in portions, and again only for runs that have grown.
import { useEffect, useMemo, useState } from 'preact/hooks';

import * as api from '../../api';
import type { Run, SeriesKey, TableRow, Tag } from '../../api_types';

const kPortion = 1000; // series that the server accepts at once
const kAtOnce = 2; // requests
const kShow = 400; // ms between updates while more data is loading
const kEverything = [-(2 ** 53), 2 ** 53] as const;

const keyOf = (run: string, tag: string): string => `${run}\n${tag}`;
const known = new Map<string, { revision: number; row: TableRow }>();

export interface Table {
  rowOf: (run: string, tag: string) => TableRow | undefined;
  serial: number; // grows with every answer
  loading: boolean; // some trials have no data yet
  error: string | null;
}

export function useTable(trials: readonly Run[], metrics: readonly Tag[]): Table {
  const [serial, setSerial] = useState(0);
  const [error, setError] = useState<string | null>(null);
  const missing = useMemo(() => {
    const found: Missing[number][] = [];
    for (const { tag, runs } of metrics) {
      const has = new Set(runs);
      for (const { run, revision } of trials)
        if (has.has(run) && known.get(keyOf(run, tag))?.revision !== revision) found.push({ run, tag, revision });
    }
    return found;
  }, [trials, metrics]);
  const unknown = useMemo(() => missing.some(({ run, tag }) => !known.has(keyOf(run, tag))), [missing, serial]);
  useEffect(() => {
    if (missing.length === 0) return;
    const controller = new AbortController();
    ask(missing, controller.signal, () => setSerial((old) => old + 1)).then(
      () => controller.signal.aborted || setError(null),
      (reason: unknown) => controller.signal.aborted || setError(reason instanceof Error ? reason.message : String(reason)),
    );
    return () => controller.abort();
  }, [missing]);
  return { rowOf: (run, tag) => known.get(keyOf(run, tag))?.row, serial, loading: unknown && error === null, error };
}

type Missing = readonly (SeriesKey & { revision: number })[];

async function ask(missing: Missing, signal: AbortSignal, onNews: () => void): Promise<void> {
  let at = 0;
  let shown = performance.now();
  const worker = async (): Promise<void> => {
    while (at < missing.length) {
      const portion = missing.slice(at, (at += kPortion));
      const series = portion.map(({ run, tag }) => ({ run, tag }));
      const rows = await api.table({ series, range: kEverything }, signal);
      rows.forEach((row, i) => known.set(keyOf(portion[i]!.run, portion[i]!.tag), { revision: portion[i]!.revision, row }));
      if (performance.now() - shown < kShow) continue;
      shown = performance.now();
      onNews();
    }
  };
  await Promise.all(Array.from({ length: kAtOnce }, worker));
  onNews();
}
