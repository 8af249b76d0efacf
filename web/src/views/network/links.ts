// Where a cell leads: the tensor itself, its node in the graph, its statistics as lines.
import { viewOf } from '../../registry';
import { parseFragment, writeFragment } from '../../url';

// Runs, filters and settings stay as they are.
const addressOf = (view: string, values: Record<string, string>): string =>
  writeFragment(view, new Map([...parseFragment(location.hash).values, ...Object.entries(values)]));

export const tensorLink = (run: string, tag: string, step: number): string | null =>
  viewOf('tensor') ? addressOf('tensor', { run, tag, step: String(step) }) : null;

export const graphLink = (run: string, tag: string, step: number): string | null =>
  viewOf('graph') ? addressOf('graph', { run, tag, step: String(step) }) : null;

export const linesLink = (statistics: readonly string[], tag: string, step: number): string =>
  addressOf('metrics', { stats: statistics.map((one) => `stat:${one}:${tag}`.replace(/[%,]/g, (c) => (c === '%' ? '%25' : '%2C'))).join(','), step: String(step) });

export const captureLink = (run: string, name: string): string =>
  addressOf(viewOf('captures') ? 'captures' : 'overview', { capture: `${run}/captures/${name}` });

export function follow(address: string): void {
  location.hash = address;
}
