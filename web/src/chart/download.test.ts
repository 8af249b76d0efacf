import { describe, expect, test } from 'vitest';

import { bandsCsv, bandsJson, joinedCsv, seriesUrl, stepsInView } from './download';
import type { BandShape, Line } from './scene';

const of = (...all: number[]) => Float64Array.from(all);
const none = Uint32Array.of();

const line: Line = {
  id: 'a',
  run: 'a',
  tag: 'loss',
  label: 'a',
  color: '#fff',
  dash: [],
  x: of(0, 10, 20, 30),
  y: of(1, 2, 3, 4),
  step: of(0, 100, 200, 300),
  time: of(0, 10, 20, 30),
  rawX: null,
  rawY: null,
  bad: { x: of(25), step: of(250), time: of(25), nan: Uint32Array.of(1), posInf: none, negInf: none },
};

describe('the steps that a file has', () => {
  test('are all of them if everything is in view', () => {
    expect(stepsInView('step', null, line)).toBeNull();
    expect(seriesUrl({ run: 'a', tag: 'loss', steps: null }, 'csv')).toBe('api/scalars?run=a&tag=loss&format=csv');
  });

  test('are those in view, also if the axis is time', () => {
    expect(stepsInView('step', [9.5, 20.5], line)).toEqual([10, 20]);
    expect(stepsInView('relative', [5, 25], line)).toEqual([100, 250]);
    expect(stepsInView('wall', [11, 19], line)).toEqual([1, 0]);
    const address = seriesUrl({ run: 'a', tag: 'loss', steps: [10, 20] }, 'json');
    expect(address).toBe('api/scalars?run=a&tag=loss&first=10&last=20&format=json');
  });
});

test('one file of several runs has one heading and the lines of all', async () => {
  const asked: string[] = [];
  const ask = (address: string) => {
    asked.push(address);
    const run = /run=(\w)/.exec(address)?.[1];
    return Promise.resolve(`run,tag,step,wall_time,value\r\n${run},loss,1,2,3\r\n`);
  };
  const all = ['a', 'b', 'c'].map((run) => ({ run, tag: 'loss', steps: run === 'b' ? ([1, 0] as const) : null }));
  const parts = await joinedCsv(all, ask, () => undefined);
  expect(parts.join('')).toBe('run,tag,step,wall_time,value\r\na,loss,1,2,3\r\nc,loss,1,2,3\r\n');
  expect(asked).toHaveLength(2); // nothing of b is in view
});

describe('a mean as a file', () => {
  const band: BandShape = {
    id: 'slow\nloss',
    label: 'slow, "2"',
    color: '#fff',
    x: of(0, 10, 20),
    mean: of(1, 2, 3),
    raw: null,
    low: of(0.5, 1.5, 2.5),
    high: of(1.5, 2.5, 3.5),
    min: of(0, 1, 2),
    max: of(2, 3, 4),
    count: Uint32Array.of(3, 3, 2),
    gone: null,
  };

  test('has what is drawn and in view', () => {
    expect(bandsCsv([band], 'step', [10, 20])).toBe(
      'group,step,mean,low,high,min,max,runs\r\n"slow, ""2""",10,2,1.5,2.5,1,3,3\r\n"slow, ""2""",20,3,2.5,3.5,2,4,2\r\n',
    );
    expect(JSON.parse(bandsJson([band], 'relative', [15, 20]))).toEqual([
      { group: 'slow, "2"', points: [{ seconds: 20, mean: 3, low: 2.5, high: 3.5, min: 2, max: 4, runs: 2 }] },
    ]);
  });

  test('has the mean itself and the smoothed one', () => {
    const text = bandsCsv([{ ...band, raw: of(7, 8, 9) }], 'step', [20, 20]);
    expect(text).toContain('group,step,mean,smoothed,low');
    expect(text).toContain(',20,9,3,2.5');
  });
});
