import { describe, expect, test } from 'vitest';

import { compile } from '../../pattern';
import { filteredCategories, placedTags, planned } from './layouts';
import { sectionsOf } from './sections';

const shown = (tags: string[]) =>
  sectionsOf(tags).map(({ name, parts }) => [name, parts.map((part) => [part.name, part.tags.map(({ title }) => title)])]);

describe('sections of tags', () => {
  test('are the first parts of the names, with one grid each, and number as people do', () => {
    expect(shown(['l10/w', 'l2/w', 'l2/b', 'l10/b', 'lr', 'a/b/c', 'a/b/d', 'a/x'])).toEqual([
      ['', [['', ['lr']]]],
      ['a', [['', ['b/c', 'b/d', 'x']]]],
      ['l2', [['', ['b', 'w']]]],
      ['l10', [['', ['b', 'w']]]],
    ]);
  });

  test('name the cards of a family by what differs', () => {
    const layers = Array.from({ length: 12 }, (_, i) => `blocks/${String(i).padStart(2, '0')}/attention/entropy`);
    expect(shown(layers)).toEqual([
      ['blocks', [['*/attention/entropy', layers.map((tag) => tag.split('/')[1])]]],
    ]);
    expect(shown(['blocks/1/mlp/norm', 'blocks/2/mlp/norm', 'blocks/1/gain', 'blocks/2/gain', 'blocks/lr'])).toEqual([
      ['blocks', [['', ['lr']], ['*/gain', ['1', '2']], ['*/mlp/norm', ['1', '2']]]],
    ]);
  });

  test('begin with losses and accuracy', () => {
    expect(shown(['a/norm', 'a/time', 'opt/lr', 'opt/wd', 'val/accuracy', 'val/aaa', 'train/zloss', 'train/a']).map(([name]) => name)).toEqual([
      'train',
      'val',
      'a',
      'opt',
    ]);
    expect(shown(['train/a', 'train/zloss'])).toEqual([['train', [['', ['zloss', 'a']]]]]);
  });

  test('many that would hold a single tag are one', () => {
    const found = sectionsOf(['l1/gain', 'l2/gain', 'l3/gain', 'l4/gain', 'l10/gain', 'opt/lr', 'opt/norm']);
    expect(found.map((section) => [section.name, section.count])).toEqual([
      ['', 5],
      ['opt', 2],
    ]);
    expect(found[0]?.parts[0]?.tags.map(({ tag }) => tag)).toEqual(['l1/gain', 'l2/gain', 'l3/gain', 'l4/gain', 'l10/gain']);
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

  test('obey the filter by the titles and the tags of their charts', () => {
    const chart = (title: string, pattern: string) => ({ title, tags: [pattern], margins: [] });
    const made = planned([{ run: 'a', categories: [{ title: 'A', closed: false, charts: [chart('Mine', 'my_'), chart('spread', 'mid')] }] }], tags);
    const titles = (filter: string) => filteredCategories(made, compile(filter)).flatMap(({ charts }) => charts.map((one) => one.title));
    expect(titles('')).toEqual(['Mine', 'spread']);
    expect(titles('mine')).toEqual(['Mine']);
    expect(titles('^mid$')).toEqual(['spread']);
    expect(titles('nothing')).toEqual([]);
  });
});
