// The statistics that colour the map: names, meaning, scale, and how those of several tensors are pooled.

export interface StatisticInfo {
  id: string; // in the address
  statistic: string; // of docs/api.md
  label: string;
  about: string;
  group: string;
  log: boolean; // a logarithmic colour scale suits it
  signed?: boolean; // values on both sides of zero
  factor?: number; // the shown value is the server's, multiplied
  pool: 'rms' | 'mean' | 'sum' | 'min' | 'max' | 'product'; // weights are numbers of elements
  only?: string[]; // kinds of tensors; others have no value
}

const kSize = 'Size';
const kShape = 'Shape';
const kHealth = 'Health';
const kPrecision = 'Precision';
const kChange = 'Change';
const kCounts = 'Counts';

export const kStatistics: readonly StatisticInfo[] = [
  { id: 'rms', statistic: 'rms', label: 'rms', about: 'root of the mean square', group: kSize, log: true, pool: 'rms' },
  { id: 'mean_abs', statistic: 'mean_abs', label: 'mean |x|', about: 'mean magnitude', group: kSize, log: true, pool: 'mean' },
  { id: 'abs_max', statistic: 'abs_max', label: 'max |x|', about: 'largest magnitude', group: kSize, log: true, pool: 'max' },
  { id: 'l2', statistic: 'l2', label: 'L2 norm', about: 'root of the sum of squares', group: kSize, log: true, pool: 'rms' },
  { id: 'std', statistic: 'std', label: 'std', about: 'standard deviation', group: kSize, log: true, pool: 'rms' },
  { id: 'mean', statistic: 'mean', label: 'mean', about: 'mean of the finite elements', group: kSize, log: false, signed: true, pool: 'mean' },
  { id: 'min', statistic: 'min', label: 'min', about: 'smallest element', group: kSize, log: false, signed: true, pool: 'min' },
  { id: 'max', statistic: 'max', label: 'max', about: 'largest element', group: kSize, log: false, signed: true, pool: 'max' },
  { id: 'peak_factor', statistic: 'peak_factor', label: 'peak factor', about: 'max |x| / rms: large if few elements dominate', group: kShape, log: true, pool: 'max' },
  { id: 'shape_factor', statistic: 'shape_factor', label: 'mean |x| / rms', about: '0.798 for a centred normal distribution, less for heavy tails', group: kShape, log: false, pool: 'mean' },
  { id: 'zero_fraction', statistic: 'zero_fraction', label: 'zeros', about: 'share of elements that are zero', group: kShape, log: false, pool: 'mean' },
  { id: 'negative_fraction', statistic: 'negative_fraction', label: 'negatives', about: 'share of elements below zero', group: kShape, log: false, pool: 'mean' },
  { id: 'nan', statistic: 'nan', label: 'NaN count', about: 'elements that are NaN', group: kHealth, log: false, pool: 'sum' },
  { id: 'non_finite', statistic: 'non_finite', label: 'NaN and Inf count', about: 'elements that are not finite', group: kHealth, log: false, pool: 'sum' },
  { id: 'f16_range', statistic: 'f16_range', label: 'fp16 range used', about: 'max |x| / 65,504: from 1 on, fp16 overflows', group: kPrecision, log: true, pool: 'max' },
  { id: 'f8_e4m3_range', statistic: 'f8_e4m3_range', label: 'fp8 e4m3 range used', about: 'max |x| / 448: from 1 on, fp8 e4m3 overflows', group: kPrecision, log: true, pool: 'max' },
  { id: 'f8_e5m2_range', statistic: 'f8_e5m2_range', label: 'fp8 e5m2 range used', about: 'max |x| / 57,344: from 1 on, fp8 e5m2 overflows', group: kPrecision, log: true, pool: 'max' },
  { id: 'f16_floor', statistic: 'rms', label: 'rms / fp16 tiny', about: 'rms / 6.1e-5, the smallest normal fp16: below 1, typical elements lose precision', group: kPrecision, log: true, factor: 16384, pool: 'rms' },
  { id: 'adam_eps', statistic: 'rms', label: 'rms / Adam eps', about: 'rms / 1e-8: a gradient near 1 or below is damped by the epsilon of Adam', group: kPrecision, log: true, factor: 1e8, pool: 'rms', only: ['gradient'] },
  { id: 'update_ratio', statistic: 'update_ratio', label: 'update / weight', about: 'rms of the update / rms of the weight: about 1e-3 is healthy', group: kChange, log: true, pool: 'mean', only: ['weight', 'update'] },
  { id: 'depth_gain', statistic: 'depth_gain', label: 'depth gain', about: 'rms / rms of the layer before: away from 1, signals grow or vanish with depth', group: kChange, log: true, pool: 'product' },
  { id: 'drift', statistic: 'drift', label: 'drift', about: 'distance of mean and std from the first step, in stds of the first step', group: kChange, log: true, pool: 'max' },
  { id: 'count', statistic: 'count', label: 'elements', about: 'number of elements', group: kCounts, log: true, pool: 'sum' },
  { id: 'zeros', statistic: 'zeros', label: 'zero count', about: 'elements that are zero', group: kCounts, log: false, pool: 'sum' },
  { id: 'sum_abs', statistic: 'sum_abs', label: 'L1 norm', about: 'sum of the magnitudes', group: kCounts, log: true, pool: 'sum' },
];

const byId = new Map(kStatistics.map((one) => [one.id, one]));

export const statisticOf = (id: string): StatisticInfo => byId.get(id) ?? kStatistics[0]!;
export const isStatistic = (id: string): boolean => byId.has(id);
export const appliesTo = (info: StatisticInfo, kind: string): boolean => info.only?.includes(kind.replace(/^eval\//, '')) ?? true;

export const kStatisticGroups: readonly [string, StatisticInfo[]][] = [kSize, kShape, kHealth, kPrecision, kChange, kCounts].map(
  (group) => [group, kStatistics.filter((one) => one.group === group)],
);

// The value of a group from those of its members; NaN if none has a value. `counts` are their numbers of elements.
export function pooled(pool: StatisticInfo['pool'], values: readonly number[], counts: readonly number[], l2 = false): number {
  let sum = pool === 'product' ? 1 : pool === 'min' ? Infinity : pool === 'max' ? -Infinity : 0;
  let weight = 0;
  values.forEach((value, i) => {
    if (!Number.isFinite(value)) return;
    const n = counts[i] ?? 1;
    weight += n;
    if (pool === 'rms') sum += l2 ? value * value : n * value * value;
    else if (pool === 'mean') sum += n * value;
    else if (pool === 'sum') sum += value;
    else if (pool === 'min') sum = Math.min(sum, value);
    else if (pool === 'max') sum = Math.max(sum, value);
    else sum *= value;
  });
  if (weight === 0) return NaN;
  if (pool === 'rms') return Math.sqrt(l2 ? sum : sum / weight);
  return pool === 'mean' ? sum / weight : sum;
}
