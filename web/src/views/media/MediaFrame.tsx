import type { ComponentChildren, RefObject } from 'preact';
import { useState } from 'preact/hooks';

import { Card } from '../../ui/Card';
import { Failure } from '../../ui/states';
import { cardId, type MediaCard, subtitle } from './cards';
import { StepNav } from '../../ui/StepNav';
import type { CardSteps, RunSteps } from './useSteps';

export interface MediaFrameProps {
  card: MediaCard;
  steps: CardSteps;
  waiting: ComponentChildren; // until the steps are known
  run: (of: RunSteps, onReady: () => void) => ComponentChildren; // one element with a key, which reports when it shows its data
  after?: ComponentChildren;
  title?: string; // instead of the tag
  controls?: ComponentChildren;
  class?: string;
  stack?: boolean; // runs below each other, not side by side
  bodyRef?: RefObject<HTMLDivElement | null>;
}

// The common part of all media cards: the steps, the captions of its runs, and whether everything is loaded.
export function MediaFrame(props: MediaFrameProps) {
  const { card } = props;
  const { asked, runs, all, recorded } = props.steps;
  const [ready, setReady] = useState<ReadonlySet<string>>(new Set());
  const state: Record<string, string> = { chart: card.tag };
  if (runs.length > 0 && runs.every((one) => one.shown && ready.has(one.run)))
    Object.assign(state, { ready: '', points: String(recorded) });
  return (
    <Card
      id={cardId(card)}
      title={props.title ?? card.tag}
      fullTitle={card.tag}
      subtitle={subtitle(card, all.length)}
      controls={props.controls}
      class={`media-card ${props.class ?? ''}`}
      data={state}
    >
      <StepNav label={card.tag} steps={all} />
      <div class={`media-body ${props.stack ? 'media-stack' : ''}`} {...(props.bodyRef ? { ref: props.bodyRef } : {})}>
        {asked.error && <Failure text={asked.error} />}
        {!asked.value && !asked.error && props.waiting}
        {runs.map((one) => props.run(one, () => setReady((old) => (old.has(one.run) ? old : new Set(old).add(one.run)))))}
        {props.after}
      </div>
    </Card>
  );
}
