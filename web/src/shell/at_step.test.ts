import { describe, expect, test } from 'vitest';

import type { Tag } from '../api_types';
import { seriesAtStep } from './at_step';

const tag = (name: string, lasts: Record<string, number>): Tag => ({
  tag: name,
  kind: 'scalars',
  display: '',
  description: '',
  runs: Object.keys(lasts),
  points: Object.keys(lasts).map(() => 1),
  first_step: Object.keys(lasts).map(() => 0),
  last_step: Object.values(lasts),
  interval: [], written_again: [],
});

const said = (tags: Tag[], visible: string[], most = 6, live: string[] = []) =>
  seriesAtStep(tags, new Set(visible), new Set(live), most).map((one) => `${one.run} ${one.tag}`);

describe('at the step cursor', () => {
  const loss = tag('loss', { train: 500, test: 510 });
  const accuracy = tag('accuracy', { test: 510 });

  test('all visible runs are shown if there is room for them', () => {
    expect(said([loss, accuracy], ['train', 'test'])).toEqual(['train loss', 'test loss', 'test accuracy']);
    expect(said([loss, accuracy], ['train'])).toEqual(['train loss']);
    expect(said([loss, accuracy], ['train', 'test'], 3).length).toBe(3);
  });

  test('otherwise the one that has come farthest, of each tag', () => {
    expect(said([loss, accuracy], ['train', 'test'], 2)).toEqual(['test loss', 'test accuracy']);
    expect(said([loss, accuracy], ['train', 'test'], 1)).toEqual(['test loss']);
  });

  test('a live one is preferred', () => {
    expect(said([loss], ['train', 'test'], 1, ['train'])).toEqual(['train loss']);
    expect(said([loss], ['train', 'test'], 1, ['train', 'test'])).toEqual(['test loss']);
    expect(said([loss], ['test'], 1, ['train'])).toEqual(['test loss']);
  });

  test('nothing is shown of nothing', () => {
    expect(said([], ['train'])).toEqual([]);
    expect(said([loss], [])).toEqual([]);
  });
});
