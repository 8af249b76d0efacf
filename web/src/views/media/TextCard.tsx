import { useEffect, useState } from 'preact/hooks';

import * as api from '../../api';
import type { Media } from '../../api_types';
import { Card } from '../../ui/Card';
import { useAsked } from '../../ui/hooks';
import { Failure, Loading } from '../../ui/states';
import { cardId, type MediaCard, subtitle } from './cards';
import { RunCaption } from './RunCaption';
import { StepNav } from './StepNav';
import { type RunSteps, useSteps } from './useSteps';

export function TextCard({ card }: { card: MediaCard }) {
  const { asked, runs, all, recorded } = useSteps(card);
  const [ready, setReady] = useState<ReadonlySet<string>>(new Set());
  const [raw, setRaw] = useState(false);
  const state: Record<string, string> = { chart: card.tag };
  if (runs.length > 0 && runs.every((one) => ready.has(one.run))) Object.assign(state, { ready: '', points: String(recorded) });
  return (
    <Card
      id={cardId(card)}
      title={card.tag.replace(/\/text_summary$/, '')}
      fullTitle={card.tag}
      subtitle={subtitle(card, all.length)}
      controls={
        <button type="button" class="media-small" aria-pressed={raw} onClick={() => setRaw(!raw)}>
          As written
        </button>
      }
      mayPin={false}
      class="media-card media-text-card"
      data={state}
    >
      <StepNav label={card.tag} steps={all} />
      <div class="media-body media-stack">
        {asked.error && <Failure text={asked.error} />}
        {!asked.value && !asked.error && <Loading what="Reading text" />}
        {runs.map((one) => (
          <RunText key={one.run} card={card} of={one} raw={raw} onReady={() => setReady((old) => (old.has(one.run) ? old : new Set(old).add(one.run)))} />
        ))}
      </div>
    </Card>
  );
}

function RunText({ card, of, raw, onReady }: { card: MediaCard; of: RunSteps; raw: boolean; onReady: () => void }) {
  const step = of.shown?.step ?? null;
  const key = { run: of.run, tag: card.tag, kind: card.kind };
  const about = useAsked<Media>(step === null ? null : JSON.stringify([key, step]), (signal) => api.media({ ...key, step: step! }, signal));
  useEffect(() => {
    if (about.value) onReady();
  }, [about.value]);
  if (step === null) return null;
  return (
    <figure class="media-figure media-words">
      <RunCaption of={of} />
      {about.error && <p class="media-error">{about.error}</p>}
      {raw
        ? about.value?.texts?.map((text, i) => <pre key={i} class="media-raw">{text}</pre>)
        : about.value?.html?.map((html, i) => <div key={i} class="media-text" dangerouslySetInnerHTML={{ __html: html }} />)}
    </figure>
  );
}
