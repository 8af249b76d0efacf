// TensorBoard's custom scalars, with the tags that match their patterns.
import type { Layout } from '../../api_types';
import { type Pattern, compile } from '../../pattern';

type Category = Layout['categories'][number];

export interface PlannedChart {
  id: string; // for a single tag, that of the tag's own card
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

// Every run of a program has the same layout: show it once.
function distinct(layouts: readonly Layout[]): { run: string; category: Category }[] {
  const found = new Map<string, { run: string; category: Category }>();
  for (const { run, categories } of layouts)
    for (const category of categories) {
      const same = JSON.stringify(category);
      if (!found.has(same)) found.set(same, { run, category });
    }
  return [...found.values()];
}

export function planned(layouts: readonly Layout[], tags: readonly string[]): PlannedCategory[] {
  const all = distinct(layouts);
  const alone = new Set<string>(); // tags with their own chart
  return all.map(({ run, category }) => {
    // Two programs may use one title for different charts.
    const shared = all.filter((other) => other.category.title === category.title).length > 1;
    const title = shared ? `${category.title} (${run})` : category.title;
    const charts = category.charts.map((chart): PlannedChart => {
      // Anchored at the start of the name, as in TensorBoard.
      const patterns = chart.tags.map((pattern) => compile(`^(?:${pattern})`));
      const named = new Set(chart.margins.flatMap((margin) => [margin.value, margin.lower, margin.upper]));
      const meant = tags.filter((tag) => named.has(tag) || patterns.some((pattern) => pattern.test(tag)));
      const [only] = meant;
      const isAlone = only !== undefined && meant.length === 1 && !category.closed && !alone.has(only);
      if (isAlone) alone.add(only);
      return {
        id: isAlone ? `metrics:${only}` : `layout:${title}/${chart.title}`,
        title: chart.title || chart.tags.join(', '),
        tags: meant,
        margins: chart.margins,
      };
    });
    return { id: `layout:${title}`, title, closed: category.closed, charts };
  });
}

// Tags whose card a layout has placed: they need no second card.
export const placedTags = (categories: readonly PlannedCategory[]): ReadonlySet<string> =>
  new Set(
    categories.flatMap(({ charts }) =>
      charts.flatMap(({ id, tags }) => (id.startsWith('metrics:') && tags[0] !== undefined ? [tags[0]] : [])),
    ),
  );

// A chart passes the filter with its title or with any of its tags.
export const matches = (chart: { title: string; tags: readonly string[] }, filter: Pattern): boolean =>
  filter.test(chart.title) || chart.tags.some((tag) => filter.test(tag));

export const filteredCategories = (categories: readonly PlannedCategory[], filter: Pattern): PlannedCategory[] =>
  categories
    .map((category) => ({ ...category, charts: category.charts.filter((chart) => matches(chart, filter)) }))
    .filter((category) => category.charts.length > 0);
