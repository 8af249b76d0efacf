// A colour for a magnitude between 0 and 1.

// Anchors of the map, evenly spaced; colours between them are interpolated.
const kViridis = [
  [68, 1, 84], [72, 36, 117], [65, 68, 135], [53, 95, 141], [42, 120, 142], [33, 145, 140], [34, 168, 132],
  [68, 191, 112], [122, 209, 81], [189, 223, 38], [253, 231, 37],
] as const;

export function viridisAt(t: number): [number, number, number] {
  const last = kViridis.length - 1;
  const at = Math.min(1, Math.max(0, Number.isNaN(t) ? 0 : t)) * last;
  const i = Math.min(last - 1, Math.floor(at));
  const part = at - i;
  const a = kViridis[i]!;
  const b = kViridis[i + 1]!;
  return [0, 1, 2].map((c) => Math.round(a[c]! + (b[c]! - a[c]!) * part)) as [number, number, number];
}

export function viridis(t: number): string {
  const [r, g, b] = viridisAt(t);
  return `rgb(${r} ${g} ${b})`;
}
