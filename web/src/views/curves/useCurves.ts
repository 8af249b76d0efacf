// The curves of a card's runs at the step of the cursor.
import { useMemo } from 'preact/hooks';

import * as api from '../../api';
import { again } from '../../live';
import { cursorStep } from '../../state';
import { useAsked, useThrottled } from '../../ui/hooks';
import { shownAt, union } from '../../ui/steps';
import { type Card, type Point, pointsOf } from './model';

export interface RunCurve {
  run: string;
  step: number; // the recorded step at the cursor
  points: Point[];
}

export interface CardCurves {
  curves: RunCurve[];
  steps: number[]; // of any run
  error: string | null;
}

export const kMostRuns = 24; // in one chart: more cannot be told apart
const kNone: RunCurve[] = [];
const kFollow = 80; // ms between updates while the cursor moves

// The newest curves, so that going back and forth over steps is instant.
const kMostKept = 600;
const kept = new Map<string, Promise<Point[]>>();

function curveAt(run: string, tag: string, step: number, time: number): Promise<Point[]> {
  const key = JSON.stringify([run, tag, step, time]); // a restarted job may write a step again
  const known = kept.get(key);
  if (known) return known;
  const asked = api.prCurve({ run, tag, step }).then(pointsOf);
  kept.set(key, asked);
  asked.catch(() => kept.delete(key)); // so that it is tried again
  const oldest = kept.keys().next();
  if (kept.size > kMostKept && !oldest.done) kept.delete(oldest.value);
  return asked;
}

export function useCurves(card: Card): CardCurves {
  const runs = card.runs.slice(0, kMostRuns);
  const recorded = useAsked(JSON.stringify([card.tag, runs, again.value]), (signal) =>
    Promise.all(runs.map(({ run }) => api.steps({ run, tag: card.tag, kind: 'pr_curves' }, signal))),
  );
  const steps = useMemo(() => union(recorded.value?.map((one) => one.steps) ?? []), [recorded.value]);
  const cursor = useThrottled(cursorStep.value, kFollow);
  const wanted = runs.flatMap(({ run }, i) => {
    const of = recorded.value?.[i];
    const shown = of ? shownAt(of.steps, cursor) : null;
    return of && shown ? [{ run, step: shown.step, time: of.times[shown.index] ?? 0 }] : [];
  });
  const key = recorded.value ? JSON.stringify([card.tag, wanted, again.value]) : null;
  const asked = useAsked(key, () =>
    Promise.all(wanted.map(async ({ run, step, time }) => ({ run, step, points: await curveAt(run, card.tag, step, time) }))),
  );
  return { curves: asked.value ?? kNone, steps, error: recorded.error ?? asked.error };
}
