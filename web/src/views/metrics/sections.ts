// Groups tags: a section for the first part of the name, with all of its cards in one grid. Families of tags that differ
// in a number only, such as the same quantity of every layer, stay together.
import { kImportant, scoreOf } from '../../headline';
import { compareNames, partsThatDiffer } from '../../names';

export interface Part {
  name: string; // of a family: "*/attention/entropy"; "" for the other tags
  tags: { tag: string; title: string }[]; // titles are what differs
}

export interface Section {
  name: string; // "" for tags without a hierarchy
  parts: Part[];
  count: number;
}

const kFewSingles = 3;
const kFamily = 2; // tags

// Hundreds of headings with one card each would be a list of headings: single tags are grouped together.
function gatherSingles(sections: Map<string, string[]>): void {
  const singles = [...sections].filter(([name, tags]) => name !== '' && tags.length === 1);
  if (singles.length <= kFewSingles) return;
  sections.set('', [...(sections.get('') ?? []), ...singles.flatMap(([, tags]) => tags)]);
  for (const [name] of singles) sections.delete(name);
}

const importance = (tag: string): number => {
  const score = scoreOf(tag);
  return score >= kImportant ? score : 0;
};
const byImportance = (a: string, b: string): number => importance(b) - importance(a) || compareNames(a, b);

// "blocks/07/attention/entropy" is of the family "*/attention/entropy" of its section.
const familyOf = (tag: string): string =>
  tag
    .split('/')
    .slice(1)
    .map((part) => (/\d/.test(part) ? part.replace(/\d+/g, '*') : part))
    .join('/');

function titled(tags: readonly string[], section: string): Part['tags'] {
  const inside = tags.map((tag) => (section !== '' && tag.startsWith(`${section}/`) ? tag.slice(section.length + 1) : tag));
  const titles = partsThatDiffer(inside);
  return tags.map((tag, i) => ({ tag, title: titles[i] || tag }));
}

function partsOf(section: string, tags: readonly string[]): Part[] {
  const families = new Map<string, string[]>();
  if (section !== '')
    for (const tag of tags) {
      const family = familyOf(tag);
      if (family.includes('*')) families.set(family, [...(families.get(family) ?? []), tag]);
    }
  const kept = [...families].filter(([, members]) => members.length >= kFamily).sort(([a], [b]) => compareNames(a, b));
  const inFamily = new Set(kept.flatMap(([, members]) => members));
  const others = tags.filter((tag) => !inFamily.has(tag)).sort(byImportance);
  return [
    ...(others.length > 0 ? [{ name: '', tags: titled(others, section) }] : []),
    ...kept.map(([name, members]) => ({ name, tags: titled(members.sort(compareNames), section) })),
  ];
}

// Sections with a loss or an accuracy come first.
export function sectionsOf(tags: readonly string[]): Section[] {
  const sections = new Map<string, string[]>();
  for (const tag of tags) {
    const slash = tag.indexOf('/');
    const name = slash < 0 ? '' : tag.slice(0, slash);
    sections.set(name, [...(sections.get(name) ?? []), tag]);
  }
  gatherSingles(sections);
  const rank = new Map([...sections].map(([name, inside]) => [name, Math.max(...inside.map(importance))]));
  return [...sections]
    .sort(([a], [b]) => (rank.get(b) ?? 0) - (rank.get(a) ?? 0) || compareNames(a, b))
    .map(([name, inside]) => ({ name, parts: partsOf(name, inside), count: inside.length }));
}
