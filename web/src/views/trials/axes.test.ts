import { expect, it } from 'vitest';

import { axisOf, brushOf, holds, isBrushes, keptOf, spanOf, without } from './axes';
import type { Cell, Column } from './columns';

const column = (id: string, cells: Cell[]): Column => ({ id, name: id.slice(2), metric: id.startsWith('m:'), text: cells.some((cell) => typeof cell === 'string'), cells });
const loss = column('m:loss', [1, 2, 5, NaN, null]);
const rate = column('h:lr', [1e-4, 1e-3, 1e-1, 1e-2, 1e-4]);
const name = column('h:opt', ['sgd', 'adam', 'lion', 'adam', null]);

it('numbers lie on a linear axis between the smallest and the largest', () => {
  const axis = axisOf(loss);
  expect(axis.log).toBe(false);
  expect(loss.cells.map(axis.place)).toEqual([0, 0.25, 1, null, null]);
  expect(axis.valueAt(0.25)).toBe(2);
});

it('numbers that lie far apart are on a logarithmic axis by default', () => {
  const axis = axisOf(rate);
  expect(axis.log).toBe(true);
  expect(axis.place(1e-3)).toBeCloseTo(1 / 3);
  expect(axisOf(rate, 'linear').log).toBe(false);
  expect(axisOf(column('h:x', [0, 1000])).log).toBe(false);
  const even = Array.from({ length: 200 }, (_, i) => (i + 1) / 400); // a few of them are tiny
  expect(axisOf(column('h:dropout', even)).log).toBe(false);
});

it('non-positive values have no position on a logarithmic axis', () => {
  const axis = axisOf(column('h:x', [-1, 0, 1, 100]), 'log');
  expect([-1, 0, 1, 100].map(axis.place)).toEqual([null, null, 0, 1]);
  expect(axis.none).toBe('≤ 0');
  expect([loss, rate, name, column('h:y', [1, null])].map((one) => axisOf(one).none)).toEqual(['NaN/Inf', '', 'none', 'none']);
});

it('texts are categories in order', () => {
  const axis = axisOf(name);
  expect(axis.categories).toEqual(['adam', 'lion', 'sgd']);
  expect(name.cells.map(axis.place)).toEqual([1, 0, 0.5, 0, null]);
  expect(axis.ticks(10).map((tick) => tick.text)).toEqual(['adam', 'lion', 'sgd']);
  expect(axisOf(column('h:one', ['x', 'x'])).place('x')).toBe(0.5);
});

it('a brush keeps what lies within it, and all brushes must', () => {
  expect(keptOf(5, [loss, rate, name], {})).toEqual([true, true, true, true, true]);
  expect(keptOf(5, [loss, rate, name], { 'm:loss': [1, 2] })).toEqual([true, true, false, false, false]);
  expect(keptOf(5, [loss, rate, name], { 'm:loss': [1, 2], 'h:opt': ['adam'] })).toEqual([false, true, false, false, false]);
  expect(keptOf(5, [loss], { 'h:gone': [0, 1] })).toEqual([true, true, true, true, true]);
  expect(holds([], 'adam')).toBe(false);
  expect(without({ a: [0, 1], b: ['x'] }, 'a')).toEqual({ b: ['x'] });
});

it('a brush is where it was drawn', () => {
  const axis = axisOf(loss);
  const brush = brushOf(axis, 0.75, 0.25)!;
  expect(brush).toEqual([2, 4]);
  expect(spanOf(axis, brush)).toEqual([0.25, 0.75]);
  expect(brushOf(axis, -1, 2)).toEqual([1, 5]);
  expect(brushOf(axis, 0.5, 0.5)).toBeNull();
  const odd = column('m:odd', [0.123456, 9.876543, -7.654321]);
  expect(keptOf(3, [odd], { 'm:odd': brushOf(axisOf(odd), 0, 1)! })).toEqual([true, true, true]);
  expect(spanOf(axis, undefined)).toBeNull();
});

it('a brush of texts takes those that it covers', () => {
  const axis = axisOf(name);
  expect(brushOf(axis, 0.4, 1)).toEqual(['lion', 'sgd']);
  expect(brushOf(axis, 0.2, 0.3)).toBeNull();
  expect(spanOf(axis, ['lion'])![0]).toBeLessThan(0.5);
  expect(spanOf(axis, ['gone'])).toBeNull();
});

it('only valid values are taken from a link', () => {
  expect(isBrushes({ a: [0, 1], b: ['x', 'y'], c: [] })).toBe(true);
  for (const bad of [null, [], { a: 1 }, { a: [1] }, { a: [2, 1] }, { a: ['x', 1] }, { a: [1, null] }]) expect(isBrushes(bad)).toBe(false);
});
