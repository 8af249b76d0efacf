import * as api from '../../api';
import type { Media } from '../../api_types';
import { fileName } from '../../ui/FileLinks';
import { useAsked } from '../../ui/hooks';
import { Loading } from '../../ui/states';
import { Clip } from './Clip';
import type { MediaCard } from './cards';
import { MediaFrame } from './MediaFrame';
import { RunCaption } from './RunCaption';
import { type RunSteps, useSteps, versionOf } from './useSteps';

export function AudioCard({ card }: { card: MediaCard }) {
  return (
    <MediaFrame
      card={card}
      steps={useSteps(card)}
      waiting={<Loading what="Reading sounds" />}
      run={(of, onReady) => <RunClips key={of.run} card={card} of={of} onReady={onReady} />}
      stack
    />
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
          file={`${fileName(of.run, card.tag, step, ...((about.value?.count ?? 1) > 1 ? [index] : []))}.wav`}
          html={about.value?.labels?.[index] ?? ''}
          onReady={onReady}
        />
      ))}
    </figure>
  );
}
