// The recorded steps of a card's runs, and the one at the cursor.
import { useMemo } from 'preact/hooks';

import * as api from '../../api';
import { again } from '../../live';
import { cursorStep } from '../../state';
import { type Loaded, useAsked } from '../../ui/hooks';
import type { MediaCard, RunOfTag } from './cards';
import { type Shown, shownAt, union } from '../../ui/steps';

export interface RunSteps {
  run: string;
  steps: number[];
  times: number[];
  shown: Shown | null;
}

export interface CardSteps {
  asked: Loaded<unknown>;
  runs: RunSteps[];
  all: number[]; // of any run
  recorded: number;
}

export const kMostRuns = 12; // side by side: more cannot be compared

export function useSteps(card: MediaCard): CardSteps {
  const runs = card.runs.slice(0, kMostRuns);
  const asked = useAsked(JSON.stringify([card.tag, card.kind, runs, again.value]), (signal) =>
    Promise.all(runs.map((one) => ask(card, one, signal))),
  );
  const all = useMemo(() => union(asked.value?.map((one) => one.steps) ?? []), [asked.value]);
  const cursor = cursorStep.value;
  const known = (asked.value ?? []).map((one) => ({ ...one, shown: shownAt(one.steps, cursor) }));
  return { asked, runs: known, all, recorded: known.reduce((sum, one) => sum + one.steps.length, 0) };
}

async function ask(card: MediaCard, of: RunOfTag, signal: AbortSignal): Promise<Omit<RunSteps, 'shown'>> {
  const { steps, times } = await api.steps({ run: of.run, tag: card.tag, kind: card.kind }, signal);
  return { run: of.run, steps, times };
}

// Appended to an address, so that data that a restarted job wrote again is not confused with the old data. It is not
// sent.
export function versionOf(of: RunSteps, index: number): string {
  return `#${of.times[index] ?? ''}`;
}
