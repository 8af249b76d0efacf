// The numbers of tables: at the step cursor, or over the marked range.
import * as api from '../api';
import type { SeriesKey, TableRow } from '../api_types';
import { change } from '../live';
import { cursorStep } from '../state';
import { useAsked, useThrottled } from '../ui/hooks';
import { integer } from '../ui/format';
import { intervalOf } from './interval';
import { selected } from './settings';

export interface Values {
  rows: readonly TableRow[] | undefined; // in the order of the series
  error: string | null;
  step: number; // the cursor's step that the rows show
  range: readonly [number, number] | null;
  what: string;
}

export function useValues(series: readonly SeriesKey[], smooth: number): Values {
  const range = selected.value;
  const step = useThrottled(cursorStep.value, 80);
  const interval = smooth > 0 ? intervalOf(series) : undefined;
  const keys = series.map(({ run, tag }) => ({ run, tag, ...(interval === undefined ? {} : { interval }) }));
  const weight = smooth > 0 ? { smooth } : {};
  const question = range ? { series: keys, range, ...weight } : { series: keys, step, ...weight };
  const key = keys.length > 0 ? JSON.stringify(question) : null;
  const { value: rows, error } = useAsked(key, (signal) => api.table(question, signal), change.value.serial);
  const what = range ? `steps ${integer(range[0])} to ${integer(range[1])}` : `step ${integer(cursorStep.value)}`;
  return { rows, error, step, range, what };
}
