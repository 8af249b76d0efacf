import { useState } from 'preact/hooks';

import * as api from '../../api';
import type { Media } from '../../api_types';
import { Card } from '../../ui/Card';
import { useAsked } from '../../ui/hooks';
import { Failure, Loading } from '../../ui/states';
import { Clip } from './Clip';
import { cardId, type MediaCard, subtitle } from './cards';
import { RunCaption } from './RunCaption';
import { StepNav } from './StepNav';
import { type RunSteps, useSteps, versionOf } from './useSteps';

export function AudioCard({ card }: { card: MediaCard }) {
  const { asked, runs, all, recorded } = useSteps(card);
  const [ready, setReady] = useState<ReadonlySet<string>>(new Set());
  const state: Record<string, string> = { chart: card.tag };
  if (runs.length > 0 && runs.every((one) => ready.has(one.run))) Object.assign(state, { ready: '', points: String(recorded) });
  return (
    <Card
      id={cardId(card)}
      title={card.tag}
      subtitle={subtitle(card, all.length)}
      mayPin={false}
      class="media-card"
      data={state}
    >
      <StepNav label={card.tag} steps={all} />
      <div class="media-body media-stack">
        {asked.error && <Failure text={asked.error} />}
        {!asked.value && !asked.error && <Loading what="Reading sounds" />}
        {runs.map((one) => (
          <RunClips key={one.run} card={card} of={one} onReady={() => setReady((old) => (old.has(one.run) ? old : new Set(old).add(one.run)))} />
        ))}
      </div>
    </Card>
  );
}

function RunClips({ card, of, onReady }: { card: MediaCard; of: RunSteps; onReady: () => void }) {
  const step = of.shown?.step ?? null;
  const key = { run: of.run, tag: card.tag, kind: card.kind };
  const about = useAsked<Media>(step === null ? null : JSON.stringify([key, step]), (signal) => api.media({ ...key, step: step! }, signal));
  if (step === null) return null;
  return (
    <figure class="media-figure">
      <RunCaption of={of} />
      {about.error && <p class="media-error">{about.error}</p>}
      {Array.from({ length: about.value?.count ?? 1 }, (_, index) => (
        <Clip
          key={index}
          url={api.audioUrl({ run: of.run, tag: card.tag, step, index }) + versionOf(of, of.shown?.index ?? 0)}
          label={`${card.tag} of ${of.run}`}
          html={about.value?.labels?.[index] ?? ''}
          onReady={onReady}
        />
      ))}
    </figure>
  );
}
