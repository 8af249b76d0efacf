// Common parts of both kinds of panels.
import { integer, plural } from '../../ui/format';
import type { Input, Plot } from './plot';

// Creates the plot once, when it is needed.
export function lazily(make: () => Plot): () => Plot {
  let made: Plot | null = null;
  return () => (made ??= make());
}

export function describe(what: string, input: Input, steps: number): string {
  const [first, last] = input.steps;
  const names = input.series.map((one) => one.run).join(', ');
  return `${what} of ${names}: ${plural(steps, 'step')} from ${integer(first)} to ${integer(last)}. A click sets the step cursor.`;
}
