// The average of src/index/smooth.h: before each value, the weight of all earlier values is multiplied by `factor(i)`.
export function smoothed(values: Float64Array, factor: (i: number) => number): Float64Array {
  let sum = 0;
  let mass = 0;
  return values.map((value, i) => {
    const left = i === 0 ? 0 : factor(i);
    sum = sum * left + value;
    mass = mass * left + 1;
    return sum / mass;
  });
}

// By distance in steps, as for lines.
export const byStep =
  (weight: number, steps: Float64Array, interval: number) =>
  (i: number): number =>
    weight ** (((steps[i] as number) - (steps[i - 1] as number)) / interval);

// For pixel columns over time, where the steps are not known: by the number of points per run in a column, so that a
// mean looks the same at any zoom.
export function byPoints(weight: number, band: { total: number; count: Uint32Array }): () => number {
  const columns = band.count.reduce((sum, runs) => sum + runs, 0); // of all runs
  const factor = columns === 0 ? weight : weight ** Math.max(1, band.total / columns);
  return () => factor;
}
