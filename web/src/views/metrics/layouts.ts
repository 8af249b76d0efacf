// TensorBoard's custom scalars, with the tags that their patterns mean here.
import type { Layout } from '../../api_types';
import { compile } from '../../pattern';

export interface PlannedChart {
  id: string;
  title: string;
  tags: string[];
  margins: { value: string; lower: string; upper: string }[];
}

export interface PlannedCategory {
  id: string;
  title: string;
  closed: boolean;
  charts: PlannedChart[];
}

export function planned(layouts: readonly Layout[], tags: readonly string[]): PlannedCategory[] {
  const seen = new Set<string>();
  const taken = new Set<string>();
  const made: PlannedCategory[] = [];
  for (const layout of layouts)
    for (const category of layout.categories) {
      // Every run of a program carries the same layout: once is enough.
      const same = JSON.stringify(category);
      if (seen.has(same)) continue;
      seen.add(same);
      // Two programs may use one title for different charts.
      const title = taken.has(category.title) ? `${category.title} (${layout.run})` : category.title;
      taken.add(category.title);
      made.push({
        id: `layout:${title}`,
        title,
        closed: category.closed,
        charts: category.charts.map((chart) => {
          // From the beginning of the name, as TensorBoard does it.
          const patterns = chart.tags.map((pattern) => compile(`^(?:${pattern})`));
          const named = new Set(chart.margins.flatMap((margin) => [margin.value, margin.lower, margin.upper]));
          return {
            id: `layout:${title}/${chart.title}`,
            title: chart.title || chart.tags.join(', '),
            tags: tags.filter((tag) => named.has(tag) || patterns.some((pattern) => pattern.test(tag))),
            margins: chart.margins,
          };
        }),
      });
    }
  return made;
}
