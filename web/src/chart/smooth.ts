// A debiased exponential average, as the server has it for the points of a series: weight w of what was before.
export function smoothed(values: Float64Array, weight: number): Float64Array {
  if (weight <= 0) return values;
  let sum = 0;
  let bias = 1;
  return values.map((value) => {
    sum = sum * weight + (1 - weight) * value;
    bias *= weight;
    return sum / (1 - bias);
  });
}

// The same average over columns that hold several points of each run: what was k points ago counts as it would there, so
// that a mean looks the same at any zoom.
export function columnWeight(weight: number, band: { total: number; count: Uint32Array }): number {
  const columns = band.count.reduce((sum, runs) => sum + runs, 0); // of all runs
  return columns === 0 ? weight : weight ** Math.max(1, band.total / columns);
}
