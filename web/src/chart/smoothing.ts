// How much a chart is smoothed if nobody has chosen: 20,000 noisy points on 400 pixels need more than 200 points do.
import { scalarsByTag } from '../headline';
import { kMostSmooth, kUsualSmooth, smoothing } from '../state';
import { cardSize, wholeRange, xRange } from './settings';

// The usual weight counts once for each pixel, not for each point. In powers of two, so that it stays the same during small
// changes.
export function weightFor(pointsPerPixel: number): number {
  const density = 2 ** Math.max(0, Math.round(Math.log2(Math.max(1, pointsPerPixel))));
  return Math.min(kMostSmooth, Number((kUsualSmooth ** (1 / density)).toFixed(4)));
}

const kWidths: Record<string, number> = { s: 250, m: 360, l: 620 }; // CSS pixels, about: as in chart.css

const shareInView = (): number => {
  const [range, [first, last]] = [xRange.value, wholeRange.value];
  return range && last > first ? Math.min(1, (range[1] - range[0]) / (last - first)) : 1;
};

// The weight of a chart of some tags.
export function smoothOf(tags: readonly string[], wide: boolean): number {
  if (smoothing.value !== null) return smoothing.value;
  const most = Math.max(0, ...tags.flatMap((tag) => scalarsByTag.value.get(tag)?.points ?? []));
  return weightFor((most * shareInView()) / (wide ? 800 : (kWidths[cardSize.value] ?? 360)));
}
