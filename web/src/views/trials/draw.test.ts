import { expect, it } from 'vitest';

import { axisOf } from './axes';
import type { Cell, Column } from './columns';
import { alphaFor, heightsOf, layoutOf, nearestTrial, pixelOf, placeAt, widthFor } from './draw_parallel';
import { frameOf, nearestPoint, placesOf } from './draw_scatter';

const axis = (cells: Cell[]) => axisOf({ id: 'h:x', name: 'x', metric: false, text: false, cells } satisfies Column);
const layout = layoutOf(2, 328, 300); // axes at 64 and 264
const axes = [axis([0, 1, 0]), axis([0, 1, NaN])];
const heights = heightsOf(axes, 3, layout);

it('axes are spread over the width, and wider than the room if they need it', () => {
  expect(layout.xs).toEqual([64, 264]);
  expect(layoutOf(1, 300, 300).xs).toEqual([150]);
  expect(widthFor(3, 1000)).toBe(1000);
  expect(widthFor(10, 390)).toBeGreaterThan(900);
});

it('values without a position on their axis are below it', () => {
  expect([...heights]).toEqual([layout.bottom, layout.bottom, layout.top, layout.top, layout.bottom, layout.off]);
  expect(placeAt(layout, pixelOf(layout, 0.25))).toBeCloseTo(0.25);
});

it('the nearest line is found between axes, but not among those that are not kept', () => {
  const all = [true, true, true];
  expect(nearestTrial(layout, heights, all, 164, layout.top + 3, 10)).toBe(1);
  expect(nearestTrial(layout, heights, all, 164, (layout.bottom + layout.off) / 2 + 1, 10)).toBe(2);
  expect(nearestTrial(layout, heights, all, 164, (layout.top + layout.bottom) / 2, 10)).toBe(-1);
  expect(nearestTrial(layout, heights, [true, false, true], 164, layout.top + 3, 10)).toBe(-1);
  expect(nearestTrial(layout, heights, [], 164, 100, 10)).toBe(-1);
});

it('many lines are fainter than a few', () => {
  expect(alphaFor(10)).toBeGreaterThan(alphaFor(1000));
  expect(alphaFor(1e6)).toBeGreaterThan(0.1);
});

it('points have a place within the frame, or none', () => {
  const frame = frameOf(400, 300);
  const places = placesOf(axes[0]!, axes[1]!, 3, frame);
  expect(places[0]).toBeGreaterThan(frame.left);
  expect(places[2]).toBeLessThan(frame.right);
  expect(places[3]).toBeLessThan(places[1]!);
  expect(places[4]).toBeNaN();
  expect(nearestPoint(places, [true, true, true], places[2]! + 3, places[3]!, 10)).toBe(1);
  expect(nearestPoint(places, [true, false, true], places[2]! + 3, places[3]!, 10)).toBe(-1);
});
