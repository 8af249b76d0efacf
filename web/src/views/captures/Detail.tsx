// One capture: why it was made, where the first bad value came from, and the layers of each saved step.
import * as api from '../../api';
import type { Capture, CapturedStep, CapturedTensor, Num } from '../../api_types';
import { setCursor } from '../../state';
import { IconButton } from '../../ui/IconButton';
import { integer, middle, plural, time } from '../../ui/format';
import { useAsked } from '../../ui/hooks';
import { Copy, Failure, Loading } from '../../ui/states';
import {
  badElements,
  elementsOf,
  healthOf,
  onlyBad,
  openStep,
  openTensor,
  roleOf,
  shown,
  usualStep,
  usualTensor,
} from './capture';
import { Growth } from './Growth';

const kMostTensors = 500;

const kCauses: Record<Capture['cause'], string> = {
  trigger: 'Trigger',
  manual: 'Requested by hand',
  crash: 'The process ended without closing the log',
};

function Values({ title, of }: { title: string; of: readonly { name: string; value: Num }[] }) {
  if (of.length === 0) return null;
  return (
    <dl class="capture-values" aria-label={title}>
      {of.map((one) => (
        <div key={one.name}>
          <dt class="mono muted">{one.name}</dt>
          <dd class={Number.isFinite(api.num(one.value)) ? '' : 'bad'}>{shown(one.value)}</dd>
        </div>
      ))}
    </dl>
  );
}

function Cause({ origin }: { origin: Capture['origin'] }) {
  const [first, ...others] = origin.producers;
  if (!first)
    return (
      <p class="muted">
        {origin.found ? 'Nothing shows which tensor produced the NaN or Inf.' : 'All tensors are finite.'}
      </p>
    );
  return (
    <section class="capture-cause" aria-label="Cause">
      <p>
        <strong class="bad mono">{first.key}</strong> produced the first {first.nan > 0 ? 'NaN' : 'Inf'} at step{' '}
        {integer(first.step)}: {elementsOf(first)}.
      </p>
      <p class="muted">
        {first.unseen.length === 0
          ? first.inputs.length > 0
            ? `All of its inputs were finite: ${first.inputs.join(', ')}.`
            : 'It has no inputs.'
          : `Not certain, since these inputs are not in the capture: ${first.unseen.join(', ')}.`}
      </p>
      {others.length > 0 && (
        <p class="muted">Other producers in that step: {others.map((one) => one.key).join(', ')}.</p>
      )}
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

// The share of elements that are not finite, as a bar.
function Health({ tensor }: { tensor: CapturedTensor }) {
  const bad = badElements(tensor);
  return (
    <td class={bad > 0 ? 'bad' : 'muted'}>
      <span class="health">
        <span class="health-bar" aria-hidden="true">
          <span style={{ width: bad > 0 ? `${Math.max(8, (100 * bad) / tensor.count)}%` : '0' }} />
        </span>
        {healthOf(tensor)}
      </span>
    </td>
  );
}

function Layers({ capture, step, chosen }: { capture: Capture; step: CapturedStep; chosen: string }) {
  const listed = step.tensors
    .map((tensor, i) => ({ tensor, place: i + 1 }))
    .filter(({ tensor }) => !onlyBad.value || badElements(tensor) > 0);
  if (step.tensors.length === 0) return <p class="muted">This step has no tensors.</p>;
  return (
    <>
      <label class="capture-only">
        <input type="checkbox" checked={onlyBad.value} onChange={() => (onlyBad.value = !onlyBad.value)} /> only layers
        that are not finite
      </label>
      {listed.length === 0 && <p class="muted">All {plural(step.tensors.length, 'tensor')} of this step are finite.</p>}
      {listed.length > 0 && (
        <div class="capture-scroll">
          <table class="capture-tensors" aria-label={`Tensors of step ${integer(step.step)}`}>
            <thead>
              <tr class="muted">
                <th scope="col" class="num" title="In order of execution">
                  #
                </th>
                <th scope="col">tensor</th>
                <th scope="col">type</th>
                <th scope="col">shape</th>
                <th scope="col">health</th>
                <th scope="col">role</th>
              </tr>
            </thead>
            <tbody>
              {listed.slice(0, kMostTensors).map(({ tensor, place }) => {
                const role = roleOf(capture, step, tensor);
                return (
                  <tr key={tensor.key} class={tensor.key === chosen ? 'chosen' : ''}>
                    <td class="num muted">{place}</td>
                    <th scope="row">
                      <button
                        type="button"
                        class="link-button mono"
                        title={tensor.inputs.length > 0 ? `${tensor.key}\nfrom ${tensor.inputs.join(', ')}` : tensor.key}
                        aria-pressed={tensor.key === chosen}
                        onClick={() => (openTensor.value = tensor.key)}
                      >
                        {middle(tensor.key, 48)}
                      </button>
                    </th>
                    <td class="mono">{tensor.dtype}</td>
                    <td class="mono">[{tensor.shape.join(', ')}]</td>
                    <Health tensor={tensor} />
                    <td class={role === 'producer' ? 'bad' : 'muted'}>{role}</td>
                  </tr>
                );
              })}
            </tbody>
          </table>
        </div>
      )}
      {listed.length > kMostTensors && <p class="muted">and {integer(listed.length - kMostTensors)} more</p>}
    </>
  );
}

function StepButtons({ capture, at }: { capture: Capture; at: number }) {
  const go = (to: number) => {
    openStep.value = Math.max(0, Math.min(capture.steps.length - 1, to));
  };
  const word = (one: CapturedStep) => {
    const off = one.step - capture.step;
    return off === 0 ? 'the step of the trigger' : off < 0 ? `${integer(-off)} before` : `${integer(off)} after`;
  };
  return (
    <div
      class="capture-steps"
      role="group"
      aria-label="Saved steps"
      onKeyDown={(event) => {
        const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
        if (by === undefined) return;
        event.preventDefault();
        event.stopPropagation();
        go(at + by);
      }}
    >
      <IconButton icon="left" label="Previous saved step" disabled={at === 0} onClick={() => go(at - 1)} />
      {capture.steps.map((one, i) => (
        <button
          key={i}
          type="button"
          class={`text-button ${one.tensors.some((tensor) => badElements(tensor) > 0) ? 'bad' : ''} ${one.step === capture.step ? 'capture-at' : ''}`}
          aria-pressed={i === at}
          title={`${word(one)}${one.complete ? '' : '; its end is missing'}${capture.problems[i] ? `; ${capture.problems[i]}` : ''}`}
          onClick={() => go(i)}
        >
          {one.evaluation ? 'eval ' : ''}
          {integer(one.step)}
          {one.complete ? '' : ' …'}
          {capture.problems[i] ? ' !' : ''}
        </button>
      ))}
      <IconButton
        icon="right"
        label="Next saved step"
        disabled={at + 1 >= capture.steps.length}
        onClick={() => go(at + 1)}
      />
    </div>
  );
}

function Steps({ run, name, capture }: { run: string; name: string; capture: Capture }) {
  const at = Math.min(openStep.value ?? usualStep(capture), capture.steps.length - 1);
  const step = capture.steps[at];
  if (!step) return <p class="muted">No step was saved: the flight recorder was off or empty.</p>;
  const chosen = openTensor.value || usualTensor(capture);
  const problem = capture.problems[at];
  return (
    <>
      {chosen && <Growth run={run} name={name} capture={capture} tensor={chosen} />}
      <StepButtons capture={capture} at={at} />
      {problem && (
        <p class="bad" role="alert">
          The values of step {integer(step.step)} cannot be shown: {problem}. What is listed here is from capture.json.
        </p>
      )}
      <Values title={`Scalars of step ${integer(step.step)}`} of={step.scalars} />
      <Layers capture={capture} step={step} chosen={chosen} />
      {step.file && !problem && <Copy text={`sonde show ${run}/captures/${name}/${step.file}`} />}
    </>
  );
}

function Content({ run, name, capture }: { run: string; name: string; capture: Capture }) {
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
          onClick={() => setCursor(capture.step)}
        >
          step {integer(capture.step)}
        </button>
        <span class="muted"> · {time(capture.wall_time)}</span>
      </p>
      {capture.when && <code class="capture-when">{capture.when}</code>}
      <Values
        title="Values of the condition"
        of={capture.values.map(({ expression, value }) => ({ name: expression, value }))}
      />
      <Cause origin={capture.origin} />
      <Steps run={run} name={name} capture={capture} />
      {capture.dropped.map((gap) => (
        <p key={`${gap.what}${gap.first_step}`} class="bad">
          Missing: {gap.what}, {plural(gap.count, 'time')} from step {integer(gap.first_step)} to{' '}
          {integer(gap.last_step)}: {gap.reason}
        </p>
      ))}
    </>
  );
}

export function Detail({ run, name }: { run: string; name: string }) {
  const { value: capture, error } = useAsked(JSON.stringify([run, name]), (signal) => api.capture(run, name, signal));
  return (
    <article class="capture-detail card" aria-label={`Capture ${name} of ${run}`}>
      <h2>
        Capture {name} <span class="muted">of {middle(run, 40)}</span>
      </h2>
      {error && <Failure text={`The capture ${name} of ${run} cannot be shown: ${error}`} />}
      {!capture && !error && <Loading what="Reading the capture" />}
      {capture && <Content run={run} name={name} capture={capture} />}
    </article>
  );
}
