// The lines of a chart of some tags: one for every visible run that recorded them, or a mean for every group.
import { computed } from '@preact/signals';
import { useMemo } from 'preact/hooks';

import { assignColors, kPalette } from '../colors';
import { meanGroupOf } from '../groups';
import { scalarsByTag } from '../headline';
import { partsThatDiffer } from '../names';
import { groupBy } from '../shell/order';
import { axis, chosenOf, colorOf, dark, runByName, runs, visibleSet } from '../state';
import type { GroupSpec, LineSpec } from './build';
import { showMean } from './settings';

const kDashes: number[][] = [[], [6, 3], [2, 3], [10, 3, 2, 3], [1, 4], [8, 2, 2, 2, 2, 2]];

// Without what all tags share, which does not distinguish them.
export const shortened = (tags: readonly string[]): string[] => partsThatDiffer(tags);

// The groups for a mean: as in the panel, or by the first part of the path.
const meanBy = computed(() => (/^(path|hparam):/.test(groupBy.value) ? groupBy.value : 'path:1'));

const groupColors = computed(() => {
  const names = new Set(runs.value.map((run) => meanGroupOf(run, meanBy.value)));
  return assignColors([...names], new Map());
});

function groupColor(name: string): string {
  const tone = kPalette[groupColors.value.get(name) ?? 0];
  return (dark.value ? tone?.dark : tone?.light) ?? '#888888';
}

function linesOf(tags: readonly string[]): LineSpec[] {
  const visible = visibleSet.value;
  const names = shortened(tags);
  const lines: LineSpec[] = [];
  const known = tags.map((tag) => (scalarsByTag.value.get(tag)?.runs ?? []).filter((run) => visible.has(run)));
  const runs = [...new Set(known.flat())];
  const shortRuns = new Map(partsThatDiffer(runs).map((short, i) => [runs[i], short]));
  tags.forEach((tag, i) => {
    for (const run of known[i] ?? []) {
      const named = (of: string) => (tags.length === 1 ? of : `${of} · ${names[i]}`);
      const label = named(run);
      lines.push({
        id: `${run}\n${tag}`,
        run,
        tag,
        label,
        short: named(shortRuns.get(run) ?? run),
        color: colorOf(run),
        dash: kDashes[i % kDashes.length] ?? [],
      });
    }
  });
  return lines;
}

function groupsOf(tags: readonly string[]): GroupSpec[] {
  const visible = visibleSet.value;
  const all = runByName.value;
  const names = shortened(tags);
  const groups: GroupSpec[] = [];
  tags.forEach((tag, i) => {
    const found = new Map<string, string[]>();
    for (const name of scalarsByTag.value.get(tag)?.runs ?? []) {
      const run = all.get(name);
      if (!run || !visible.has(name)) continue;
      const group = meanGroupOf(run, meanBy.value);
      found.set(group, [...(found.get(group) ?? []), name]);
    }
    for (const [group, runs] of found)
      groups.push({ tag, runs, label: tags.length === 1 ? group : `${group} · ${names[i]}`, color: groupColor(group) });
  });
  return groups;
}

const kMostMarked = 20;

// A mean excludes non-finite values: those runs still show where they occurred.
const marksOf = (tags: readonly string[]): LineSpec[] =>
  linesOf(tags)
    .filter((line) => runByName.value.get(line.run)?.first_bad_step != null)
    .slice(0, kMostMarked);

// How many runs a chart of some tags would have without the limit.
export function wantedRuns(tags: readonly string[]): number {
  const all = tags.map((tag) => scalarsByTag.value.get(tag)?.runs ?? []);
  return chosenOf(all.length === 1 && all[0] ? all[0] : [...new Set(all.flat())]);
}

// Points of those lines that are left out because a restart wrote their steps again.
export function replacedPoints({ lines, groups }: Pick<Lines, 'lines' | 'groups'>): number {
  const all = [...lines, ...groups.flatMap(({ tag, runs }) => runs.map((run) => ({ run, tag })))];
  return all.reduce((sum, { run, tag }) => {
    const known = scalarsByTag.value.get(tag);
    return sum + (known?.written_again[known.runs.indexOf(run)] ?? 0);
  }, 0);
}

const kMostGuides = 12;

// On time axes, some runs of each group, which give the time of each step.
function guidesOf(groups: readonly GroupSpec[]): LineSpec[] {
  const made: LineSpec[] = [];
  const longest = Math.max(0, ...groups.map((group) => group.runs.length));
  for (let i = 0; i < longest && made.length < kMostGuides; ++i)
    for (const { runs, tag, label, color } of groups) {
      const run = runs[i];
      if (run !== undefined) made.push({ id: `${run}\n${tag}`, run, tag, label, color, dash: [] });
    }
  return made.slice(0, kMostGuides);
}

const kNoLines: LineSpec[] = [];
const kNoGroups: GroupSpec[] = [];

export interface Lines {
  lines: LineSpec[];
  groups: GroupSpec[];
  marks: LineSpec[]; // only their non-finite points are drawn
  guides: LineSpec[]; // not drawn
}

// Returns the same arrays as long as nothing in them has changed, so that charts are redrawn only when necessary.
export function useLines(tags: readonly string[]): Lines {
  const mean = showMean.value;
  const lines = mean ? kNoLines : linesOf(tags);
  const groups = mean ? groupsOf(tags) : kNoGroups;
  const marks = mean ? marksOf(tags) : kNoLines;
  const guides = mean && axis.value !== 'step' ? guidesOf(groups) : kNoLines;
  const key = JSON.stringify([lines, groups, marks, guides]);
  return useMemo(() => ({ lines, groups, marks, guides }), [key]);
}
