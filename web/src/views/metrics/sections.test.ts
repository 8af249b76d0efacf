import { describe, expect, test } from 'vitest';

import { placedTags, planned } from './layouts';
import { sectionsOf } from './sections';

describe('sections of tags', () => {
  test('follow the hierarchy, and number as people do', () => {
    const found = sectionsOf(['l10/w', 'l2/w', 'l2/b', 'l10/b', 'loss', 'a/b/c', 'a/b/d', 'a/x']);
    expect(found.map((section) => section.name)).toEqual(['', 'a', 'l2', 'l10']);
    expect(found[1]?.parts).toEqual([
      { name: '', tags: ['a/x'] },
      { name: 'b', tags: ['a/b/c', 'a/b/d'] },
    ]);
    expect(found[2]?.count).toBe(2);
  });

  test('many that would hold a single tag are one', () => {
    const found = sectionsOf(['l1/loss', 'l2/loss', 'l3/loss', 'l4/loss', 'l10/loss', 'opt/lr', 'opt/norm']);
    expect(found.map((section) => [section.name, section.count])).toEqual([
      ['', 5],
      ['opt', 2],
    ]);
    expect(found[0]?.parts[0]?.tags).toEqual(['l1/loss', 'l2/loss', 'l3/loss', 'l4/loss', 'l10/loss']);
  });
});

describe('layouts', () => {
  const tags = ['loss', 'loss/train', 'my_loss', 'low', 'mid', 'high'];

  test('mean tags by patterns from the beginning of the name, and margins by names', () => {
    const category = {
      title: 'Learning',
      closed: true,
      charts: [
        { title: 'loss', tags: ['loss(/train)?'], margins: [] },
        { title: 'spread', tags: [], margins: [{ value: 'mid', lower: 'low', upper: 'high' }] },
      ],
    };
    const layouts = [
      { run: 'a', categories: [category] },
      { run: 'b', categories: [category] },
    ];
    const made = planned(layouts, tags);
    expect(made).toHaveLength(1);
    const other = planned([...layouts, { run: 'c', categories: [{ ...category, charts: [] }] }], tags);
    expect(other.map((one) => one.title)).toEqual(['Learning (a)', 'Learning (c)']);
    expect(made[0]?.closed).toBe(true);
    expect(made[0]?.charts.map((chart) => chart.tags)).toEqual([
      ['loss', 'loss/train'],
      ['low', 'mid', 'high'],
    ]);
    expect(placedTags(made)).toEqual(new Set());
  });

  test('place the card of a tag that a chart is only about, once', () => {
    const chart = (title: string, pattern: string) => ({ title, tags: [pattern], margins: [] });
    const charts = [chart('mine', 'my_loss'), chart('again', 'my_loss'), chart('all', 'loss')];
    const open = { title: 'A', closed: false, charts };
    const made = planned([{ run: 'a', categories: [open] }], tags);
    expect(made[0]?.charts.map((one) => one.id)).toEqual(['metrics:my_loss', 'layout:A/again', 'layout:A/all']);
    expect(placedTags(made)).toEqual(new Set(['my_loss']));
    expect(placedTags(planned([{ run: 'a', categories: [{ ...open, closed: true }] }], tags))).toEqual(new Set());
  });
});
