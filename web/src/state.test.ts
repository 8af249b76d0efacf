import { beforeEach, expect, test } from 'vitest';

import type { Alert, Run } from './api_types';
import { kPalette } from './colors';
import { alerts, alertsLoaded, badWord, colorOf, ownColors, runs } from './state';

// What every object has.
const kNames = ['__proto__', 'constructor', 'toString', 'hasOwnProperty'];

beforeEach(() => {
  runs.value = kNames.map((run) => ({ run }) as Run);
  ownColors.value = {};
});

test('a run has a colour of its own, however it is named', () => {
  const tones = kPalette.flatMap(({ dark, light }) => [dark, light]);
  const colors = kNames.map(colorOf);
  for (const color of colors) expect(tones).toContain(color);
  expect(new Set(colors).size).toBe(kNames.length);
});

test('a colour that was chosen counts, however the run is named', () => {
  for (const name of kNames) ownColors.value = { ...ownColors.value, [name]: '#123456' };
  expect(kNames.map(colorOf)).toEqual(kNames.map(() => '#123456'));
});

test('what a run stopped being finite with is what its first alerts say, NaN before all', () => {
  const bad = { run: 'a', first_bad_step: 5 } as Run;
  const alert = (value: Alert['value'], step: number, tag: string) =>
    ({ kind: 'nonfinite', run: 'a', tag, step, value, text: `${tag} is NaN at step 5` }) as Alert;
  const word = (...all: Alert[]) => {
    alerts.value = all;
    return badWord(bad);
  };
  runs.value = [bad];
  alertsLoaded.value = true;
  expect(word(alert('Infinity', 5, 'x'))).toBe('Inf');
  expect(word(alert('-Infinity', 5, 'x'), alert('NaN', 9, 'later'))).toBe('Inf');
  expect(word(alert('NaN', 5, 'y'), alert('Infinity', 5, 'x'))).toBe('NaN');
  expect(word(alert(null, 5, 'tensor'))).toBe('NaN/Inf');
});
