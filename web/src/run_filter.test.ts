import { describe, expect, test } from 'vitest';

import type { Run } from './api_types';
import { compileRunFilter } from './run_filter';

const run = (name: string, hparams: Run['hparams']) => ({ run: name, hparams }) as Run;
const all = [
  run('a/lr=1', { lr: 0.001, optimizer: 'adam', nesterov: false }),
  run('b', { lr: 0.01, optimizer: 'SGD', nesterov: true }),
  run('c', {}),
];
const found = (filter: string) => all.filter(compileRunFilter(filter, all).test).map((one) => one.run);

describe('the filter of runs', () => {
  test('compares hyper-parameters by their type', () => {
    expect(found('lr<0.005')).toEqual(['a/lr=1']);
    expect(found('lr>=1e-3')).toEqual(['a/lr=1', 'b']);
    expect(found('lr!=0.01')).toEqual(['a/lr=1']);
    expect(found('optimizer=sgd')).toEqual(['b']);
    expect(found('nesterov=true')).toEqual(['b']);
    expect(found('optimizer<z')).toEqual([]);
  });
  test('takes several, and a pattern for the name', () => {
    expect(found('lr>0.0001 optimizer=adam')).toEqual(['a/lr=1']);
    expect(found('lr>0.0001 ^b')).toEqual(['b']);
    expect(found('')).toHaveLength(3);
  });
  test('takes what is no hyper-parameter as a pattern', () => {
    expect(found('/lr=')).toEqual(['a/lr=1']);
    expect(found('wd>3')).toEqual([]);
    expect(compileRunFilter('lr>1 (', all).pattern.error).not.toBe(null);
  });
});
