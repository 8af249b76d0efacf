// What happened at which step: the alerts and captures of the visible runs, for the step bar and the keys that jump to them.
import { computed } from '@preact/signals';

import type { Alert } from '../api_types';
import { alerts, badSteps, badWord, cursorStep, runByName, setCursor, visibleSet } from '../state';
import { integer } from '../ui/format';

export interface Mark {
  step: number;
  look: 'nan' | 'inf' | 'other';
  name: string; // one word
  text: string;
}

const kNames: Partial<Record<Alert['kind'], string>> = { trigger: 'capture', dropped: 'drop' };

export function marksOf(all: readonly Alert[], visible: ReadonlySet<string>): Mark[] {
  return all.flatMap(({ run, step, kind, value, text }): Mark[] => {
    if (step === null || !visible.has(run)) return [];
    if (kind !== 'nonfinite') return [{ step, look: 'other', name: kNames[kind] ?? kind, text: `${run}: ${text}` }];
    const infinite = value === 'Infinity' || value === '-Infinity';
    return [{ step, look: infinite ? 'inf' : 'nan', name: infinite ? 'Inf' : 'NaN', text: `${run}: ${text}` }];
  });
}

// Alerts are limited in number: the first bad step of every run is marked in any case.
export const marks = computed<Mark[]>(() => {
  const found = marksOf(alerts.value, visibleSet.value);
  const known = new Set(found.filter((mark) => mark.look !== 'other').map((mark) => mark.step));
  for (const { run, step } of badSteps.value) {
    const about = runByName.value.get(run);
    if (known.has(step) || !about) continue;
    const name = badWord(about);
    found.push({ step, look: name === 'Inf' ? 'inf' : 'nan', name, text: `${run}: not finite from step ${integer(step)}` });
  }
  return found.sort((a, b) => a.step - b.step);
});

const kStrength = { nan: 2, inf: 1, other: 0 };

// Marks that are nearer to each other than a finger needs are one; the worst gives it its name.
export function merged(all: readonly Mark[], pixelOf: (step: number) => number, least = 24): (Mark & { count: number })[] {
  const made: (Mark & { count: number; begin: number })[] = [];
  for (const mark of all) {
    const last = made[made.length - 1];
    const at = pixelOf(mark.step);
    if (!last || at - last.begin >= least) made.push({ ...mark, count: 1, begin: at });
    else {
      if (kStrength[mark.look] > kStrength[last.look]) Object.assign(last, { look: mark.look, name: mark.name, step: mark.step });
      last.count += 1;
      if (last.count <= 6) last.text += `\n${mark.text}`;
    }
  }
  return made;
}

export function jump(forward: boolean): void {
  const here = cursorStep.peek();
  const steps = marks.peek().map((mark) => mark.step);
  const to = forward ? steps.find((step) => step > here) : steps.filter((step) => step < here).pop();
  if (to !== undefined) setCursor(to);
}
