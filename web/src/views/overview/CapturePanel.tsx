// What a trigger saved: why it fired, which tensor produced the NaN, and what is in each step.
import { useEffect, useRef, useState } from 'preact/hooks';

import * as api from '../../api';
import type { Capture, CapturedStep, Num } from '../../api_types';
import { setCursor } from '../../state';
import { integer, middle, plural, time } from '../../ui/format';
import { useAsked } from '../../ui/hooks';
import { Copy, Failure, Loading } from '../../ui/states';
import { badElements, elementsOf, healthOf, openCapture, partsOf, shown } from './capture';

const kMostTensors = 500;

const kCauses: Record<Capture['cause'], string> = {
  trigger: 'Trigger',
  manual: 'Requested by hand',
  crash: 'The process ended without closing the log',
};

const isBad = (of: Num) => !Number.isFinite(api.num(of));

function Values({ title, of }: { title: string; of: readonly { name: string; value: Num }[] }) {
  if (of.length === 0) return null;
  return (
    <table class="capture-values" aria-label={title}>
      <tbody>
        {of.map((one) => (
          <tr key={one.name}>
            <th scope="row" class="mono">
              {one.name}
            </th>
            <td class={`num ${isBad(one.value) ? 'bad' : ''}`}>{shown(one.value)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function Cause({ origin }: { origin: Capture['origin'] }) {
  const [first, ...others] = origin.producers;
  if (!first) return <p class="muted">{origin.found ? 'Nothing shows which tensor produced the NaN or Inf.' : 'All tensors are finite.'}</p>;
  return (
    <section class="capture-cause" aria-label="Cause">
      <p>
        <strong class="bad mono">{first.key}</strong> produced the first {first.nan > 0 ? 'NaN' : 'Inf'} at step {integer(first.step)}: {elementsOf(first)}.
      </p>
      <p class="muted">
        {first.unseen.length === 0
          ? first.inputs.length > 0
            ? `All of its inputs were finite: ${first.inputs.join(', ')}.`
            : 'It has no inputs.'
          : `Not certain, since these inputs are not in the capture: ${first.unseen.join(', ')}.`}
      </p>
      {others.length > 0 && <p class="muted">Other producers in that step: {others.map((one) => one.key).join(', ')}.</p>}
      {origin.propagators.length > 0 && (
        <p class="muted" title={origin.propagators.join('\n')}>
          Passed on by {plural(origin.propagators.length, 'tensor')}: {middle(origin.propagators.join(', '), 160)}.
        </p>
      )}
      {origin.caveats.map((one) => (
        <p key={one} class="muted">
          {one}
        </p>
      ))}
    </section>
  );
}

function Tensors({ step, producers }: { step: CapturedStep; producers: ReadonlySet<string> }) {
  const { tensors } = step;
  if (tensors.length === 0) return <p class="muted">This step has no tensors.</p>;
  return (
    <>
      <table class="capture-tensors" aria-label={`Tensors of step ${integer(step.step)}`}>
        <thead>
          <tr class="muted">
            <th scope="col">tensor</th>
            <th scope="col">type</th>
            <th scope="col">shape</th>
            <th scope="col">health</th>
          </tr>
        </thead>
        <tbody>
          {tensors.slice(0, kMostTensors).map((tensor) => (
            <tr key={tensor.key}>
              <th scope="row" class="mono" title={tensor.key}>
                {middle(tensor.key, 48)}
                {producers.has(tensor.key) && <span class="bad"> ← producer</span>}
              </th>
              <td class="mono">{tensor.dtype}</td>
              <td class="mono">[{tensor.shape.join(', ')}]</td>
              <td class={badElements(tensor) > 0 ? 'bad' : 'muted'}>{healthOf(tensor)}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {tensors.length > kMostTensors && <p class="muted">and {integer(tensors.length - kMostTensors)} more</p>}
    </>
  );
}

function Steps({ capture, directory }: { capture: Capture; directory: string }) {
  const cause = capture.origin.producers[0]?.step ?? capture.step;
  const usual = capture.steps.findIndex((one) => one.step === cause && !one.evaluation);
  const [at, setAt] = useState(usual < 0 ? capture.steps.length - 1 : usual);
  const step = capture.steps[at];
  if (!step) return <p class="muted">No step was saved: the flight recorder was off or empty.</p>;
  const producers = new Set(capture.origin.producers.filter((one) => one.step === step.step).map((one) => one.key));
  return (
    <>
      <div class="capture-steps" role="group" aria-label="Saved steps">
        {capture.steps.map((one, i) => (
          <button
            key={i}
            type="button"
            class={`text-button ${one.tensors.some((tensor) => badElements(tensor) > 0) ? 'bad' : ''}`}
            aria-pressed={i === at}
            title={one.complete ? '' : 'The end of this step is missing'}
            onClick={() => setAt(i)}
          >
            {one.evaluation ? 'eval ' : ''}
            {integer(one.step)}
            {one.complete ? '' : ' …'}
          </button>
        ))}
      </div>
      <Values title={`Scalars of step ${integer(step.step)}`} of={step.scalars} />
      <Tensors step={step} producers={producers} />
      {step.file && <Copy text={`sonde show ${directory}/${step.file}`} />}
    </>
  );
}

function Content({ run, name, capture }: { run: string; name: string; capture: Capture }) {
  const close = () => (openCapture.value = '');
  return (
    <>
      <p>
        {kCauses[capture.cause]}
        {capture.cause === 'trigger' && (
          <>
            {' '}
            <strong>{capture.reason}</strong>
          </>
        )}{' '}
        at{' '}
        <button
          type="button"
          class="link-button"
          title="Move the step cursor there"
          onClick={() => {
            setCursor(capture.step);
            close();
          }}
        >
          step {integer(capture.step)}
        </button>
        <span class="muted"> · {time(capture.wall_time)}</span>
      </p>
      {capture.when && <code class="capture-when">{capture.when}</code>}
      <Values title="Values of the condition" of={capture.values.map(({ expression, value }) => ({ name: expression, value }))} />
      <Cause origin={capture.origin} />
      <Steps capture={capture} directory={`${run}/captures/${name}`} />
      {capture.dropped.map((gap) => (
        <p key={`${gap.what}${gap.first_step}`} class="bad">
          Missing: {gap.what}, {plural(gap.count, 'time')} from step {integer(gap.first_step)} to {integer(gap.last_step)}: {gap.reason}
        </p>
      ))}
    </>
  );
}

function Panel({ run, name }: { run: string; name: string }) {
  const dialog = useRef<HTMLDialogElement>(null);
  const { value: capture, error } = useAsked(JSON.stringify([run, name]), (signal) => api.capture(run, name, signal));
  useEffect(() => dialog.current?.showModal(), []);
  return (
    <dialog
      ref={dialog}
      class="dialog capture-panel"
      aria-label={`Capture ${name} of ${run}`}
      onClose={() => (openCapture.value = '')}
      onClick={(event) => event.target === dialog.current && dialog.current?.close()}
    >
      <h2>
        Capture {name} <span class="muted">of {middle(run, 40)}</span>
      </h2>
      {error && <Failure text={error} />}
      {!capture && !error && <Loading what="Reading the capture" />}
      {capture && <Content run={run} name={name} capture={capture} />}
      <div class="dialog-actions">
        <button type="button" class="text-button" onClick={() => dialog.current?.close()}>
          Close
        </button>
      </div>
    </dialog>
  );
}

export function CapturePanel() {
  const parts = partsOf(openCapture.value);
  return parts && <Panel key={openCapture.value} {...parts} />;
}
