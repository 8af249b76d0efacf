import { describe, expect, test } from 'vitest';

import { compareNames, partsThatDiffer } from './names';

// Whatever order they come in, this one comes out.
function expectOrder(...names: string[]): void {
  for (let turn = 0; turn < names.length; ++turn) {
    const turned = [...names.slice(turn), ...names.slice(0, turn)].reverse();
    expect(turned.sort(compareNames)).toEqual(names);
  }
}

describe('names are ordered', () => {
  test('by decimal numbers in them', () => {
    expectOrder('lr0.0001', 'lr0.001', 'lr0.01', 'lr0.1', 'lr0.10', 'lr0.3', 'lr0.9', 'lr1', 'lr10');
    expectOrder('lr=0.001,b=8', 'lr=0.001,b=16', 'lr=0.1,b=8', 'lr=0.1,b=16');
  });

  test('by numbers with an exponent, among those without', () => {
    expectOrder('lr1e-5', 'lr3e-5', 'lr0.0001', 'lr1E-3', 'lr5e-3', 'lr0.1', 'lr1e+1', 'lr1e2');
    expectOrder('a2', 'a10', 'a1e2'); // 100
    expectOrder('1e2f', '2'); // no exponent: a hash
  });

  test('by whole numbers, however long', () => {
    expectOrder('run-1', 'run-2', 'run-10', 'run-100', `run-1${'0'.repeat(30)}`, `run-1${'0'.repeat(400)}`);
  });

  test('by each number of a version or a path', () => {
    expectOrder('v1.9.0', 'v1.10.0', 'v1.10.2');
    expectOrder('layer3.2.conv', 'layer3.9.conv', 'layer3.10.conv', 'layer4.0.conv');
    expectOrder('features.2.9', 'features.2.10', 'features.10.1');
    expectOrder('lr0.001.seed1', 'lr0.001.seed2', 'lr0.1.seed1');
  });

  test('by their text otherwise, signs before digits before letters', () => {
    expectOrder('', 'a', 'A', 'a/b', 'a1', 'ab', 'b', 'é', 'z');
  });

  test('with no two as equal, unless they are the same', () => {
    const same = ['lr0.001', 'lr1e-3', 'lr0.0010', 'lr01e-3', 'x', 'ｘ', 'x\u200b', '1', '01', '001'];
    for (const a of same)
      for (const b of same) {
        expect(compareNames(a, b) === 0).toBe(a === b);
        expect(Math.sign(compareNames(a, b)) + Math.sign(compareNames(b, a))).toBe(0);
      }
  });
});

describe('the parts of names that differ', () => {
  test('leave out what all names share at both ends', () => {
    expect(partsThatDiffer(['b/00/att/h', 'b/01/att/h'])).toEqual(['00', '01']);
    expect(partsThatDiffer(['exp/resnet/adam/s1', 'exp/vit/s1'])).toEqual(['resnet/adam', 'vit']);
    expect(partsThatDiffer(['a/x', 'a/x/y'])).toEqual(['x', 'x/y']);
    expect(partsThatDiffer(['train', 'train/x'])).toEqual(['train', 'train/x']);
    expect(partsThatDiffer(['a/b'])).toEqual(['a/b']);
  });
});
