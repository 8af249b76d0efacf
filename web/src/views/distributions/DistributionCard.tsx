// The distributions of one tag, over its runs: one panel per run, or one for all.
import { useMemo, useRef, useState } from 'preact/hooks';

import * as api from '../../api';
import { again } from '../../live';
import { colorOf } from '../../state';
import { Card } from '../../ui/Card';
import { fullCard } from '../../ui/cards';
import { FileLinks, fileName } from '../../ui/FileLinks';
import { useAsked, useSize } from '../../ui/hooks';
import { Failure, Loading } from '../../ui/states';
import { ask, kindsOf, most, questionKey } from './data';
import { cardId, type TagCard } from './groups';
import { bodyHeight, kMostPanels, kMostTogether, panelGrid } from './layout';
import type { Series } from './model';
import { Panels } from './Panels';
import { mode, source, stepWindow, together } from './settings';
import { Subtitle } from './Subtitle';

// Whether a card has one panel per run, and so its own row. Heat maps of two runs would cover each other.
export const isWide = (card: TagCard): boolean => card.runs.length > 1 && (together.value === 'side' || mode.value === 'heatmap');

export function DistributionCard({ card }: { card: TagCard }) {
  const body = useRef<HTMLDivElement>(null);
  const id = cardId(card);
  const full = fullCard.value === id;
  const [ready, setReady] = useState(false);
  const size = useSize(body);
  const drawn = mode.value;
  const apart = together.value === 'side' || drawn === 'heatmap';
  const runs = card.runs.slice(0, apart ? kMostPanels : kMostTogether);
  const grid = panelGrid(apart ? runs.length : 1, size.width, size.height);
  const count = most(drawn, grid.width, grid.height);
  const question = { tag: card.tag, runs, source: source.value, window: stepWindow.value, count };
  const key = size.width > 0 ? `${questionKey(question)}${again.value}` : null;
  const asked = useAsked(key, (signal) => ask(question, signal));
  const found = useMemo(() => asked.value?.filter((one) => one.steps.length > 0) ?? [], [asked.value]);
  const series = found.map((one): Series => ({ ...one, colour: colorOf(one.run) }));
  const recorded = found.reduce((sum, one) => sum + one.recorded, 0);
  const links = runs.map((of) => ({
    label: of.run,
    address: api.url('histograms', { run: of.run, tag: card.tag, kind: kindsOf(of, source.value)[0], most: 500 }),
    file: `${fileName(of.run, card.tag)}.json`,
  }));
  const state: Record<string, string> = { chart: card.tag };
  if (ready) Object.assign(state, { ready: '', points: String(recorded) });
  return (
    <Card
      id={id}
      title={card.tag}
      subtitle={<Subtitle card={card} found={found} shown={runs.length} />}
      data={state}
      controls={<FileLinks title={card.tag} links={links} />}
    >
      <div class="dist-body" style={{ height: full ? '100%' : `${bodyHeight(grid.rows)}px` }} ref={body}>
        {asked.error && !asked.value && <Failure text={asked.error} />}
        {!asked.value && !asked.error && <Loading what="Reading histograms" />}
        {asked.value && !asked.loading && series.length === 0 && <p class="dist-none muted">Nothing was recorded from this source in these steps. Choose others above.</p>}
        {series.length > 0 && <Panels series={series} found={found} apart={apart} grid={grid} onDrawn={() => setReady(true)} />}
      </div>
    </Card>
  );
}
