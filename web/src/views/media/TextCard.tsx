import { useEffect, useState } from 'preact/hooks';

import * as api from '../../api';
import type { Media } from '../../api_types';
import { useAsked } from '../../ui/hooks';
import { Loading } from '../../ui/states';
import type { MediaCard } from './cards';
import { MediaFrame } from './MediaFrame';
import { RunCaption } from './RunCaption';
import { type RunSteps, useSteps } from './useSteps';

export function TextCard({ card }: { card: MediaCard }) {
  const [raw, setRaw] = useState(false);
  return (
    <MediaFrame
      card={card}
      steps={useSteps(card)}
      title={card.tag.replace(/\/text_summary$/, '')}
      controls={
        <button type="button" class="media-small" aria-pressed={raw} onClick={() => setRaw(!raw)}>
          As written
        </button>
      }
      class="media-text-card"
      waiting={<Loading what="Reading text" />}
      run={(of, onReady) => <RunText key={of.run} card={card} of={of} raw={raw} onReady={onReady} />}
      stack
    />
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
