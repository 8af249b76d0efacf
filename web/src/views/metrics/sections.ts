// Tags by their hierarchy: a section for the first part of the name, a part of it for what is between first and last.

export interface Part {
  name: string; // "" where nothing is between
  tags: string[];
}

export interface Section {
  name: string; // "" for tags without a hierarchy
  parts: Part[];
  count: number;
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
  const collator = new Intl.Collator('en', { numeric: true });
  return [...sections]
    .sort(([a], [b]) => collator.compare(a, b))
    .map(([name, parts]) => ({
      name,
      parts: [...parts].sort(([a], [b]) => collator.compare(a, b)).map(([part, inside]) => ({ name: part, tags: inside.sort(collator.compare) })),
      count: [...parts.values()].reduce((sum, inside) => sum + inside.length, 0),
    }));
}
