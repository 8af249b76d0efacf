import { expect, test } from 'vitest';

import { alsoRecorded } from './also';
import { columnsThatFit } from './columns';

test('what no view shows is named, with its number', () => {
  const tags = ['scalars', 'graphs', 'mesh', 'mesh', 'hparams'].map((kind) => ({ kind }));
  expect(alsoRecorded(tags, [{ kinds: ['scalars'] }])).toEqual(['1 graph', '2 mesh']);
  expect(alsoRecorded(tags, [{ kinds: ['scalars', 'graphs', 'mesh'] }])).toEqual([]);
});

test('the table of runs has as many columns as fit a screen of 1,440 pixels, and all on a wider one', () => {
  for (const longest of [5, 32]) {
    const { metrics, hparams } = columnsThatFit(1137, longest, 4, 8);
    expect(470 + 34 + 7 * longest + 124 * metrics + 84 * hparams).toBeLessThanOrEqual(1137);
    expect(hparams).toBeGreaterThanOrEqual(3);
  }
  expect(columnsThatFit(2400, 32, 4, 8)).toEqual({ metrics: 4, hparams: 8 });
  expect(columnsThatFit(300, 32, 4, 8)).toEqual({ metrics: 1, hparams: 0 });
  expect(columnsThatFit(1137, 5, 0, 0)).toEqual({ metrics: 0, hparams: 0 });
});
