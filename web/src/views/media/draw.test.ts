import { expect, it } from 'vitest';

import type { Tag } from '../../api_types';
import { cardsOf, subtitle } from './cards';
import { brightness, pixelText, visible } from './draw';

it('the numbers of a pixel are named if there are several', () => {
  expect(pixelText([12])).toBe('12');
  expect(pixelText([12, 255])).toBe('12 alpha 255');
  expect(pixelText([1, 2, 3])).toBe('R 1 G 2 B 3');
  expect(pixelText([1, 2, 3, 4])).toBe('R 1 G 2 B 3 A 4');
});

it('brightness is that of grey, or of colours as the eye weighs them', () => {
  expect(brightness([77, 255])).toBe(77);
  expect(brightness([255, 255, 255])).toBeCloseTo(255);
  expect(brightness([0, 255, 0])).toBeGreaterThan(brightness([255, 0, 0]));
});

it('only pixels within the frame are drawn', () => {
  const size = { width: 100, height: 50 };
  expect(visible({ left: -95, top: 20, perPixel: 10 }, size, { width: 60, height: 60 })).toEqual({ left: 9, top: 0, right: 16, bottom: 4 });
  expect(visible({ left: 5, top: 5, perPixel: 0.5 }, size, { width: 200, height: 200 })).toEqual({ left: 0, top: 0, right: 100, bottom: 50 });
});

it('cards are those of visible runs, with numbers in order', () => {
  const tag = (name: string, kind: string, runs: string[]): Tag => ({
    tag: name, kind, display: '', description: '', runs, points: runs.map(() => 3), first_step: runs.map(() => 0), last_step: runs.map(() => 9), interval: [], written_again: [],
  });
  const cards = cardsOf([tag('a10', 'images', ['y', 'x']), tag('a2', 'images', ['x']), tag('s', 'text', ['x']), tag('z', 'images', ['w'])], 'images', new Set(['x', 'y']));
  expect(cards.map((card) => [card.tag, card.runs.map((one) => one.run)])).toEqual([['a2', ['x']], ['a10', ['x', 'y']]]);
  expect(cards.map((card) => subtitle(card, 3))).toEqual(['3 steps', '3 steps · 2 runs']);
  expect(subtitle(cards[1]!, 0)).toBe('2 runs');
});
