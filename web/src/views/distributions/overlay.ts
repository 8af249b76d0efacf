// All steps on top of each other: value to the right, density upwards. The newest is on top.
import { stepColour, type Theme } from './colours';
import {
  type Box, current, gridLines, type Input, type Marks, type Plot, type Shape, shapes, valueAxis, valueLabels,
} from './plot';
import { heightAt, spikes, toHit, trace } from './ridgeline';

export function overlay(input: Input): Plot {
  const box: Box = { left: 8, top: 6, right: Math.max(40, input.width - 8), bottom: Math.max(30, input.height - 22) };
  const values = valueAxis(input, box.left, box.right);
  const all = shapes(input, values);
  const tall = box.bottom - box.top;

  // The nearest line above or below the pointer.
  function pointer(x: number, y: number): Shape | null {
    if (x < box.left || x >= box.right || y < box.top || y > box.bottom + 4) return null;
    const column = Math.floor(x - box.left);
    let found: Shape | null = null;
    let distance = 24;
    for (const shape of all) {
      const away = Math.abs(box.bottom - heightAt(shape, column, tall) - y);
      if (away <= distance) {
        found = shape;
        distance = away;
      }
    }
    return found;
  }

  function draw(context: CanvasRenderingContext2D, theme: Theme, marks: Marks): void {
    gridLines(context, values, theme, box, true);
    const chosen = current(input, marks.cursor);
    const isHit = (shape: Shape): boolean => marks.hit?.series === shape.series && marks.hit.index === shape.index;
    const isCurrent = (shape: Shape): boolean => chosen.get(shape.series) === shape.index;
    const colourOf = (shape: Shape, order: number): string =>
      input.series.length === 1 ? stepColour(order, all.length, theme.dark) : input.series[shape.series]!.colour;
    context.lineJoin = 'round';
    const several = input.series.length > 1; // then a colour means a run, also at the cursor
    const pale = several ? 0.3 : all.length > 12 ? 0.55 : 0.85;
    all.forEach((shape, order) => line(context, shape, box, tall, colourOf(shape, order), 1, pale));
    all.forEach((shape, order) => {
      if (isCurrent(shape)) line(context, shape, box, tall, several ? colourOf(shape, order) : theme.cursor, 2, 1);
    });
    for (const shape of all) if (isHit(shape)) line(context, shape, box, tall, theme.cursor, 2.5, 1);
    context.strokeStyle = theme.line;
    context.lineWidth = 1;
    context.beginPath();
    context.moveTo(box.left, box.bottom + 0.5);
    context.lineTo(box.right, box.bottom + 0.5);
    context.stroke();
    valueLabels(context, values, theme, box);
  }

  return {
    draw,
    hit: (x, y) => {
      const shape = pointer(x, y);
      return shape && toHit(shape, values, x);
    },
    stepAt: (x, y) => pointer(x, y)?.of.step ?? null,
    across: null,
  };
}

function line(
  context: CanvasRenderingContext2D, shape: Shape, box: Box, tall: number, colour: string, width: number, alpha: number,
): void {
  context.globalAlpha = alpha;
  context.strokeStyle = colour;
  context.lineWidth = width;
  context.beginPath();
  context.moveTo(box.left, box.bottom);
  trace(context, shape.profile.mass, shape.peak, box.left, box.bottom, tall);
  context.stroke();
  spikes(context, shape, box.left, box.bottom, tall, colour);
  context.globalAlpha = 1;
}
