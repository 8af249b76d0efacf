import { beforeEach, expect, test } from 'vitest';

import type { Run } from './api_types';
import { kPalette } from './colors';
import { colorOf, ownColors, runs } from './state';

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
