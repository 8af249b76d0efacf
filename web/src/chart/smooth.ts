// The average of src/index/smooth.h: what lies before a value counts `factor(i)` of what it counted at the value before.
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

// By distance in steps, as lines are smoothed.
export const byStep =
  (weight: number, steps: Float64Array, interval: number) =>
  (i: number): number =>
    weight ** (((steps[i] as number) - (steps[i - 1] as number)) / interval);

// For columns of pixels over time, where no steps are known: by the points that a column holds of each run, so that a mean
// looks the same at any zoom.
export function byPoints(weight: number, band: { total: number; count: Uint32Array }): () => number {
  const columns = band.count.reduce((sum, runs) => sum + runs, 0); // of all runs
  const factor = columns === 0 ? weight : weight ** Math.max(1, band.total / columns);
  return () => factor;
}
