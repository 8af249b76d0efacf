import { describe, expect, test } from 'vitest';

import type { Tag } from './api_types';
import { headlinesOf, quantityOf, betterOf } from './headline';

const tag = (name: string, points = 100): Tag => ({
  tag: name,
  kind: 'scalars',
  display: '',
  description: '',
  runs: ['r'],
  points: [points],
  first_step: [0],
  last_step: [points],
  interval: [], written_again: [],
});

describe('what says whether it is learning', () => {
  test('is one quantity, whether of training or of test', () => {
    for (const name of ['loss', 'train/loss', 'loss/test', 'val_loss', 'Loss/validation', 'eval.loss', 'training loss'])
      expect(quantityOf(name), name).toBe('loss');
    expect(quantityOf('epoch_loss')).toBe('epoch/loss');
    expect(quantityOf('latest')).toBe('latest'); // no "test" in it
    expect(quantityOf('train')).toBe('train');
  });

  test('is the loss first, its training and test in one chart', () => {
    const found = headlinesOf([tag('lr'), tag('acc/train'), tag('loss/train'), tag('loss/test'), tag('acc/test'), tag('z')], 3);
    expect(found.map(({ tags }) => tags)).toEqual([['loss/train', 'loss/test'], ['acc/train', 'acc/test'], ['lr']]);
    expect(found.map((one) => one.better)).toEqual(['smaller', 'larger', null]);
  });

  test('is the series with the most points if nothing has a telling name', () => {
    expect(headlinesOf([tag('a', 10), tag('b', 1000)], 1)[0]?.tags).toEqual(['b']);
    expect(headlinesOf([], 3)).toEqual([]);
  });

  test('is better when it is smaller, or larger, or neither', () => {
    for (const name of ['loss', 'epoch/loss', 'error', 'perplexity', 'mse']) expect(betterOf(name), name).toBe('smaller');
    for (const name of ['accuracy', 'f1', 'reward', 'auc']) expect(betterOf(name), name).toBe('larger');
    for (const name of ['lr', 'learning/rate', 'grad/norm', 'epoch', 'x']) expect(betterOf(name), name).toBe(null);
  });
});
