import { expect, it } from 'vitest';

import type { Tag } from '../../api_types';
import { groupTags } from './groups';

const tag = (name: string, kind: string, runs: string[]): Tag => ({
  tag: name,
  kind,
  display: '',
  description: '',
  runs,
  points: runs.map((_, i) => i + 1),
  first_step: runs.map(() => 0),
  last_step: runs.map((_, i) => i * 10),
  interval: [], written_again: [],
});

const tags = [
  tag('b/conv_10', 'histograms', ['x', 'y']),
  tag('b/conv_2', 'statistics', ['x']),
  tag('b/conv_10', 'statistics', ['y']),
  tag('loss', 'scalars', ['x']),
  tag('plain', 'histograms', ['y']),
];

it('makes one card of a tag of several kinds, by name and with numbers in order', () => {
  const groups = groupTags(tags, ['histograms', 'statistics'], new Set(['x', 'y']));
  expect(groups.map((g) => [g.name, g.cards.map((c) => c.tag)])).toEqual([['', ['plain']], ['b', ['b/conv_2', 'b/conv_10']]]);
  expect(groups[1]!.cards[1]!.runs).toEqual([
    { run: 'x', kinds: { histograms: { points: 1, last: 0 } } },
    { run: 'y', kinds: { histograms: { points: 2, last: 10 }, statistics: { points: 1, last: 0 } } },
  ]);
});

it('leaves out tags that no visible run has', () => {
  expect(groupTags(tags, ['histograms', 'statistics'], new Set(['x'])).flatMap((g) => g.cards.map((c) => c.tag))).toEqual([
    'b/conv_2', 'b/conv_10',
  ]);
  expect(groupTags(tags, ['images'], new Set(['x', 'y']))).toEqual([]);
});

it('lists tensors in the order of execution if the log knows it', () => {
  const executed = [
    { ...tag('a/zeta', 'statistics', ['x']), order: 0 },
    { ...tag('a/alpha', 'statistics', ['x']), order: 5 },
    { ...tag('a/middle', 'statistics', ['x']), order: 2 },
    tag('a/by_hand', 'histograms', ['x']),
  ];
  expect(groupTags(executed, ['histograms', 'statistics'], new Set(['x']))[0]!.cards.map((c) => c.tag)).toEqual([
    'a/zeta', 'a/middle', 'a/alpha', 'a/by_hand',
  ]);
});
