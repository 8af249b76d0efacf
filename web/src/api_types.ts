// The answers of docs/api.md as types.

export type Num = number | 'NaN' | 'Infinity' | '-Infinity';
export type RunState = 'live' | 'finished' | 'died';
export type Axis = 'step' | 'wall' | 'relative';
export type Range = readonly [number | null, number | null];

export interface Status {
  version: string;
  revision: number;
  may_write: boolean;
  logs: { label: string; directory: string; problems: string[] }[];
  progress: { bytes_read: number; bytes_found: number; runs_read: number; runs_found: number };
}

export interface Run {
  run: string;
  revision: number;
  state: RunState;
  read: boolean;
  started: number | null;
  last_time: number | null;
  first_step: number | null;
  last_step: number | null;
  steps_per_second: number | null;
  points: number;
  damaged: number;
  dropped: number;
  hparams: Record<string, number | string | boolean>;
  metrics: string[];
  note: string;
  first_bad_step: number | null;
}

// As the page uses it: the indices into the list of runs are names here.
export interface Tag {
  tag: string;
  kind: string;
  display: string;
  description: string;
  order?: number | null; // position in the order of execution; null: the tag does not belong to a probe
  runs: string[];
  points: number[];
  first_step: number[];
  last_step: number[];
  interval: number[]; // median number of steps between two points; 0: all points are at one step
  written_again: number[]; // points that are left out because a restart wrote their steps again
}

export interface TagsAnswer {
  revision: number;
  runs: string[];
  tags: (Omit<Tag, 'runs'> & { runs: number[] })[];
}

export interface StartAnswer {
  status: Status;
  runs: { revision: number; runs: Run[] };
  tags: TagsAnswer;
  layouts: { layouts: Layout[] };
}

export interface Alert {
  kind: 'nonfinite' | 'trigger' | 'died' | 'dropped' | 'budget' | 'damage';
  run: string;
  tag: string | null;
  tag_kind: string | null;
  step: number | null;
  time: number | null;
  text: string;
  value: 'NaN' | 'Infinity' | '-Infinity' | null; // the first non-finite value of a scalar
  capture: string | null; // the name of its capture
}

export interface CapturedTensor {
  key: string;
  name: string;
  kind: string;
  inputs: string[];
  dtype: string;
  shape: number[];
  count: number;
  nan: number;
  positive_infinity: number;
  negative_infinity: number;
}

export interface CapturedStep {
  step: number;
  evaluation: boolean;
  complete: boolean;
  wall_time: number;
  file: string;
  scalars: { name: string; value: Num }[];
  tensors: CapturedTensor[]; // in the order of execution
}

// capture.json, with the origin of the non-finite values.
export interface Capture {
  cause: 'trigger' | 'manual' | 'crash';
  reason: string;
  when: string;
  values: { expression: string; value: Num }[];
  step: number;
  wall_time: number;
  before: number;
  after: number;
  steps: CapturedStep[];
  dropped: { what: string; first_step: number; last_step: number; count: number; reason: string }[];
  problems: string[]; // with the file of each step; empty: none
  origin: {
    found: boolean;
    producers: { key: string; step: number; count: number; nan: number; infinite: number; inputs: string[]; unseen: string[] }[];
    propagators: string[];
    caveats: string[];
  };
}

// What the list says about a capture.
export interface CaptureEntry {
  run: string;
  name: string;
  problem: string | null; // why it cannot be read; then the rest says nothing
  cause: Capture['cause'];
  reason: string;
  when: string;
  values: { expression: string; value: Num }[];
  step: number;
  wall_time: number;
  steps: number;
  tensors: number;
  nonfinite: boolean;
  producer: string | null;
}

// A tensor at one step of a capture; the numbers are over its finite elements.
export interface GrowthStep {
  step: number;
  evaluation: boolean;
  count: number;
  nan: number;
  positive_infinity: number;
  negative_infinity: number;
  zeros: number;
  min: Num;
  max: Num;
  mean: Num;
  rms: Num;
}

// The triggers that were added to a running job.
export interface Triggers {
  run: string;
  standing: 'in force' | 'refused' | 'not read';
  but: string;
  triggers: { when: string; name: string; before: number; after: number }[];
}

export interface LayoutChart {
  title: string;
  tags: string[];
  margins: { value: string; lower: string; upper: string }[];
}

export interface Layout {
  run: string;
  categories: { title: string; closed: boolean; charts: LayoutChart[] }[];
}

export interface SeriesKey {
  run: string;
  tag: string;
  interval?: number; // number of steps for which the smoothing weight counts once; default: that of the series
  step?: number; // of a row in a table, instead of the table's
}

// The view of a chart: requests with the same window are sent together.
export interface Window {
  axis: Axis;
  range?: Range;
  width: number;
  smooth?: number;
}

export interface Columns {
  step: Float64Array;
  time: Float64Array;
  value: Float64Array;
}

export interface BadColumns {
  step: Float64Array;
  time: Float64Array;
  nan: Uint32Array;
  posInf: Uint32Array;
  negInf: Uint32Array;
}

export interface Series {
  found: boolean;
  total: number; // points in the range before down-sampling
  raw: Columns;
  smooth: Columns;
  bad: BadColumns;
}

export interface Band {
  found: boolean;
  total: number;
  x: Float64Array;
  mean: Float64Array;
  std: Float64Array;
  min: Float64Array;
  max: Float64Array;
  count: Uint32Array;
}

export interface TableRow {
  run: string;
  tag: string;
  count: number;
  step: number;
  value: Num;
  smoothed: Num | null;
  first: Num;
  last: Num;
  min: Num;
  max: Num;
  mean: Num;
  delta: Num;
  min_step: number;
  max_step: number;
  time: number;
  relative: number;
}

export interface Steps {
  kind: string;
  steps: number[];
  times: number[];
}

export interface Histogram {
  left: Num[];
  right: Num[];
  count: number[];
  nan: number;
  positive_infinity: number;
  negative_infinity: number;
}

// A step that was chosen, but could not be read.
export interface LeftOut {
  step: number;
  text: string;
}

export interface Histograms {
  kind: string;
  total: number;
  steps: number[];
  times: number[];
  histograms: Histogram[];
  left_out: LeftOut[];
}

export interface Statistics {
  total: number;
  dtype: string;
  shape: number[];
  steps: number[];
  times: number[];
  count: number[];
  nan: number[];
  positive_infinity: number[];
  negative_infinity: number[];
  zeros: number[];
  negatives: number[];
  min: Num[];
  max: Num[];
  mean: Num[];
  std: Num[];
  sum_abs: Num[];
}

export interface Media {
  kind: 'images' | 'audio' | 'text';
  step: number;
  time: number;
  count: number;
  width?: number;
  height?: number;
  labels?: string[];
  texts?: string[];
  html?: string[];
}

// Rows of the same length, by ascending threshold.
export interface PrCurve {
  step: number;
  time: number;
  thresholds: number[];
  true_positives: Num[];
  false_positives: Num[];
  true_negatives: Num[];
  false_negatives: Num[];
  precision: Num[];
  recall: Num[];
}
