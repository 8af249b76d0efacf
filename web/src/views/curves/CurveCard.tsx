import { useMemo, useRef, useState } from 'preact/hooks';

import * as api from '../../api';
import { colorOf } from '../../state';
import { Card as Frame } from '../../ui/Card';
import { fullCard } from '../../ui/cards';
import { FileLinks, fileName } from '../../ui/FileLinks';
import { plural } from '../../ui/format';
import { useSize } from '../../ui/hooks';
import { StepNav } from '../../ui/StepNav';
import { Failure } from '../../ui/states';
import { Chart } from './Chart';
import { Legend } from './Legend';
import { type Card, cardId } from './model';
import { kMostRuns, useCurves } from './useCurves';

const kHeight = 280; // of the chart, CSS pixels

// The curves of one tag at the step of the cursor, one per run.
export function CurveCard({ card }: { card: Card }) {
  const body = useRef<HTMLDivElement>(null);
  const size = useSize(body);
  const full = fullCard.value === cardId(card);
  const { curves, steps, error } = useCurves(card);
  const [drawn, setDrawn] = useState(false);
  const colours = curves.map(({ run }) => colorOf(run));
  const lines = useMemo(
    () => curves.map(({ run, points }, i) => ({ run, points, colour: colours[i]! })),
    [curves, colours.join()],
  );
  const data: Record<string, string> = { chart: card.tag };
  if (drawn && curves.length > 0) Object.assign(data, { ready: '', points: String(curves.reduce((sum, one) => sum + one.points.length, 0)) });
  const links = curves.map(({ run, step }) => ({
    label: run,
    address: api.url('pr_curve', { run, tag: card.tag, step }),
    file: `${fileName(run, card.tag, step)}.json`,
  }));
  const more = card.runs.length - kMostRuns;
  return (
    <Frame id={cardId(card)} title={card.tag} subtitle={plural(steps.length, 'step')} mayPin={false} class="curves-card" data={data} controls={<FileLinks title={card.tag} links={links} />}>
      <StepNav label={card.tag} steps={steps} />
      <div class="curves-body" ref={body}>
        {error && <Failure text={error} />}
        <Chart
          label={`Precision over recall of ${card.tag}`}
          lines={lines}
          width={size.width}
          height={full ? Math.max(200, size.height) : kHeight}
          onDrawn={() => setDrawn(lines.length > 0)}
        />
      </div>
      <Legend label={card.tag} curves={curves} />
      {more > 0 && <p class="muted">{plural(more, 'more run')}: choose on the left which are shown.</p>}
    </Frame>
  );
}
