// Groups tags by hierarchy: a section for the first part of the name, a subsection for the parts between first and
// last.
import { compareNames } from '../../names';

export interface Part {
  name: string; // "" if there is nothing between
  tags: string[];
}

export interface Section {
  name: string; // "" for tags without a hierarchy
  parts: Part[];
  count: number;
}

const kFewSingles = 3;

// Hundreds of headings with one card each would be a list of headings: single tags are grouped together.
function gatherSingles(sections: Map<string, Map<string, string[]>>): void {
  const singles = [...sections].filter(([name, parts]) => {
    const [only] = parts.values();
    return name !== '' && parts.size === 1 && only?.length === 1;
  });
  if (singles.length <= kFewSingles) return;
  const plain = sections.get('') ?? new Map<string, string[]>();
  sections.set('', plain);
  for (const [name, parts] of singles) {
    plain.set('', [...(plain.get('') ?? []), ...[...parts.values()].flat()]);
    sections.delete(name);
  }
}

export function sectionsOf(tags: readonly string[]): Section[] {
  const sections = new Map<string, Map<string, string[]>>();
  for (const tag of tags) {
    const first = tag.indexOf('/');
    const last = tag.lastIndexOf('/');
    const section = first < 0 ? '' : tag.slice(0, first);
    const part = first === last ? '' : tag.slice(first + 1, last);
    const parts = sections.get(section) ?? new Map<string, string[]>();
    const inside = parts.get(part) ?? [];
    inside.push(tag);
    parts.set(part, inside);
    sections.set(section, parts);
  }
  gatherSingles(sections);
  return [...sections]
    .sort(([a], [b]) => compareNames(a, b))
    .map(([name, parts]) => ({
      name,
      parts: [...parts]
        .sort(([a], [b]) => compareNames(a, b))
        .map(([part, inside]) => ({ name: part, tags: inside.sort(compareNames) })),
      count: [...parts.values()].reduce((sum, inside) => sum + inside.length, 0),
    }));
}
