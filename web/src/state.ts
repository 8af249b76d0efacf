// The state that all views share. Read the signals; change only those that belong to the user: filters, cursor,
// settings.
import { computed, effect, signal } from '@preact/signals';

import type { Alert, Axis, Layout, Run, Status, Tag } from './api_types';
import { assignColors, kPalette } from './colors';
import { compile } from './pattern';
import { compileRunFilter } from './run_filter';
import { type Selection, isSelected, selectionCodec } from './selection';
import { json, localSignal, numberIn, oneOf, optional, text, urlSignal } from './url';

export { localSignal, urlSignal, view } from './url';

// --- Data from the server (kept up to date by live.ts) ---

export const status = signal<Status | null>(null);
export const runs = signal<Run[]>([]);
export const tags = signal<Tag[]>([]);
export const alerts = signal<Alert[]>([]);
export const alertsLoaded = signal(false);
export const layouts = signal<Layout[]>([]);
export const loaded = signal(false); // runs and tags have arrived at least once
export const loadError = signal<string | null>(null);

export const runByName = computed(() => new Map(runs.value.map((run) => [run.run, run])));

// --- Settings ---

export const theme = localSignal<'auto' | 'dark' | 'light'>('theme', 'auto', oneOf('auto', 'dark', 'light'));
const systemDark = signal(true);
if (typeof matchMedia !== 'undefined') {
  const query = matchMedia('(prefers-color-scheme: dark)');
  systemDark.value = query.matches;
  query.addEventListener('change', () => {
    systemDark.value = query.matches;
  });
}
export const dark = computed(() => (theme.value === 'auto' ? systemDark.value : theme.value === 'dark'));
if (typeof document !== 'undefined')
  effect(() => {
    document.documentElement.dataset.theme = dark.value ? 'dark' : 'light';
  });

export const axis = urlSignal<Axis>('axis', 'step', oneOf<Axis>('step', 'relative', 'wall'), { remember: true });
export const kMostSmooth = 0.999;
export const kUsualSmooth = 0.6;
// null: as much as the density of the points asks for; see chart/smoothing.ts.
export const smoothing = urlSignal<number | null>('smooth', null, optional(numberIn(0, kMostSmooth)), { remember: true });
export const smooth = computed(() => smoothing.value ?? kUsualSmooth);

// --- Runs and tags ---

export const runFilter = urlSignal('runs', '', text);
export const tagFilter = urlSignal('tags', '', text);
export const selection = urlSignal<Selection>('show', { only: false, names: new Set() }, selectionCodec);

export const runPattern = computed(() => compileRunFilter(runFilter.value, runs.value).pattern);
export const tagPattern = computed(() => compile(tagFilter.value));

type Sieve = (all: readonly Run[]) => readonly Run[];
const sieveOf =
  (filter: string): Sieve =>
  (all) =>
    filter === '' ? all : all.filter(compileRunFilter(filter, runs.peek()).test);

// The list of runs follows every key; charts and tables, which cost more, follow when the typing pauses.
const kRest = 120; // ms
const restedFilter = signal(runFilter.peek());
effect(() => {
  const filter = runFilter.value;
  if (filter === restedFilter.peek()) return;
  const timer = setTimeout(() => (restedFilter.value = filter), kRest);
  return () => clearTimeout(timer);
});
export const runSieve = computed(() => sieveOf(runFilter.value));
export const restedSieve = computed(() => sieveOf(restedFilter.value));

export const kMostDrawn = 200; // runs in one chart: more can neither be told apart nor drawn smoothly

// The names of the selected runs, in the order of the server's list, and those of them that exist.
export const chosenRuns = computed<string[]>(() => {
  const chosen = selection.value;
  const names: string[] = [];
  for (const run of restedSieve.value(runs.value)) if (isSelected(chosen, run.run)) names.push(run.run);
  return names;
});
export const visibleRuns = computed<string[]>(() => chosenRuns.value.slice(0, kMostDrawn));
const chosenSet = computed<ReadonlySet<string>>(() => new Set(chosenRuns.value));

// How many of `names` are selected, without the limit.
export function chosenOf(names: readonly string[]): number {
  const chosen = chosenSet.value;
  let count = 0;
  for (const name of names) if (chosen.has(name)) ++count;
  return count;
}
export const visibleSet = computed<ReadonlySet<string>>(() => new Set(visibleRuns.value));

// Tags that pass the filter, for views to pick their kinds from.
export const filteredTags = computed(() => {
  const pattern = tagPattern.value;
  return tagFilter.value === '' ? tags.value : tags.value.filter((tag) => pattern.test(tag.tag));
});

// Names of the tags that pass the filter, by their kind.
export const tagsByKind = computed(() => namesByKind(filteredTags.value));

function namesByKind(of: readonly Tag[]): Map<string, string[]> {
  const names = new Map<string, string[]>();
  for (const { tag, kind } of of) {
    const known = names.get(kind);
    if (known) known.push(tag);
    else names.set(kind, [tag]);
  }
  return names;
}

// --- Colours ---

const isColors = (value: unknown): value is Record<string, string> =>
  typeof value === 'object' &&
  value !== null &&
  Object.values(value).every((one) => typeof one === 'string' && /^#[0-9a-f]{6}$/i.test(one));

export const ownColors = urlSignal<Record<string, string>>('colors', {}, json(isColors), { remember: true });

let given: ReadonlyMap<string, number> = new Map();
const palette = computed(() => {
  given = assignColors(
    runs.value.map((run) => run.run),
    given,
  );
  return given;
});

// The colour of a run in the current theme: reading it subscribes to both.
export function colorOf(run: string): string {
  const own = ownColors.value;
  // A run may have the name of a property of every object, such as "constructor".
  if (Object.hasOwn(own, run)) return own[run]!;
  const tone = kPalette[palette.value.get(run) ?? 0];
  return (dark.value ? tone?.dark : tone?.light) ?? '#888888';
}

// --- The step cursor ---

export const stepRange = computed<readonly [number, number]>(() => {
  let first = Infinity;
  let last = -Infinity;
  const all = runByName.value;
  for (const name of visibleRuns.value) {
    const run = all.get(name);
    if (run?.first_step != null) first = Math.min(first, run.first_step);
    if (run?.last_step != null) last = Math.max(last, run.last_step);
  }
  return first <= last ? [first, last] : [0, 0];
});

// The position that the user has chosen; null: it stays at the newest step.
export const cursor = urlSignal<number | null>(
  'step',
  null,
  optional(numberIn(Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER)),
);
export const cursorStep = computed(() => {
  const [first, last] = stepRange.value;
  return cursor.value === null ? last : Math.min(Math.max(cursor.value, first), last);
});

export function setCursor(step: number | null): void {
  const [first, last] = stepRange.peek();
  cursor.value = step === null ? null : Math.round(Math.min(Math.max(step, first), last));
}

// The distance of an arrow key: about the distance of two recorded points of the densest visible series.
export const stepSize = computed(() => {
  const visible = visibleSet.value;
  let size = Infinity;
  for (const tag of tags.value) {
    for (let i = 0; i < tag.runs.length; ++i) {
      const points = tag.points[i] ?? 0;
      if (points < 2 || !visible.has(tag.runs[i] ?? '')) continue;
      size = Math.min(size, ((tag.last_step[i] ?? 0) - (tag.first_step[i] ?? 0)) / (points - 1));
      if (size <= 1) return 1;
    }
  }
  return Number.isFinite(size) ? Math.max(1, Math.round(size)) : 1;
});

// The pointer's position in units of the axis: every chart draws its crosshair there. Not in the address.
export const hover = signal<number | null>(null);

// The run under the pointer, in whichever list, legend or chart: it is highlighted in all of them.
export const lit = signal<string | null>(null);

// Every step at which a visible run first became non-finite.
export const badSteps = computed(() => {
  const all = runByName.value;
  const found: { run: string; step: number }[] = [];
  for (const name of visibleRuns.value) {
    const step = all.get(name)?.first_bad_step;
    if (step != null) found.push({ run: name, step });
  }
  return found;
});

// What became non-finite first, from the alerts; those of tensors do not say it.
const badWords = computed(() => {
  const words = new Map<string, string>();
  for (const { run, step, value } of alerts.value) {
    if (value === null || step !== runByName.value.get(run)?.first_bad_step) continue;
    if (value === 'NaN') words.set(run, 'NaN');
    else if (!words.has(run)) words.set(run, 'Inf');
  }
  return words;
});
export const badWord = (run: Run): string => badWords.value.get(run.run) ?? (alertsLoaded.value ? 'NaN/Inf' : 'NaN');
