// What triggers saved around a fault: a list of captures, and the steps, layers and cause of one of them.
import { useComputed } from '@preact/signals';
import './style.css';

import * as api from '../../api';
import type { CaptureEntry } from '../../api_types';
import { change } from '../../live';
import { loaded, runs, visibleSet } from '../../state';
import { ago, integer, middle, plural, time } from '../../ui/format';
import { useAsked } from '../../ui/hooks';
import { Copy, Empty, Failure, Loading } from '../../ui/states';
import { addressOf, openCapture, openStep, openTensor, partsOf, shown } from './capture';
import { Detail } from './Detail';
import { Triggers } from './Triggers';

function open(entry: CaptureEntry): void {
  openCapture.value = addressOf(entry.run, entry.name);
  openStep.value = null;
  openTensor.value = '';
}

function Values({ entry }: { entry: CaptureEntry }) {
  const few = entry.values.slice(0, 2);
  return (
    <>
      {few.map(({ expression, value }) => (
        <span key={expression} class="capture-value">
          <span class="muted">{middle(expression, 24)} = </span>
          <span class={Number.isFinite(api.num(value)) ? '' : 'bad'}>{shown(value)}</span>
        </span>
      ))}
    </>
  );
}

function Entry({ entry, current }: { entry: CaptureEntry; current: boolean }) {
  return (
    <button type="button" class="capture-entry" aria-current={current ? 'true' : undefined} onClick={() => open(entry)}>
      <span class="capture-entry-head">
        <strong class={entry.nonfinite || entry.problem ? 'bad' : ''}>{middle(entry.reason || entry.name, 28)}</strong>
        <span class="muted" title={entry.problem ? '' : time(entry.wall_time)}>
          {entry.problem ? 'unreadable' : ago(entry.wall_time)}
        </span>
      </span>
      <span class="capture-entry-line">
        <span title={entry.run}>{middle(entry.run, 26)}</span>
        {!entry.problem && <span class="muted">step {integer(entry.step)}</span>}
      </span>
      {entry.when && <code class="capture-entry-when">{middle(entry.when, 80)}</code>}
      {entry.values.length > 0 && (
        <span class="capture-entry-line">
          <Values entry={entry} />
        </span>
      )}
      {entry.producer && (
        <span class="capture-entry-line">
          <span class="bad mono" title={entry.producer}>
            {middle(entry.producer, 34)}
          </span>
        </span>
      )}
    </button>
  );
}

function Nothing() {
  return (
    <Empty title="No captures yet">
      <p>
        A capture is what the recorder saves when a trigger fires or the process dies: all tensors of the steps around that moment. Arm a trigger
        while a job runs, or in the program's policy.
      </p>
      <Copy text={"sonde arm LOGDIR/RUN --when \"nonfinite('.*')\" --before 5 --after 2"} />
    </Empty>
  );
}

export default function CapturesView() {
  const { value, error } = useAsked('captures', api.captures, change.value.serial);
  const wanted = useComputed(() => partsOf(openCapture.value));
  if (!loaded.value || (!value && !error)) return <Loading what="Reading the captures" />;
  const all = value?.captures ?? [];
  const isOpen = (entry: CaptureEntry) => addressOf(entry.run, entry.name) === openCapture.value;
  const listed = all.filter((entry) => visibleSet.value.has(entry.run) || isOpen(entry));
  const first = listed[0];
  const isLive = runs.value.some((run) => run.state === 'live' && visibleSet.value.has(run.run));
  const parts = wanted.value ?? (first ? { run: first.run, name: first.name } : null);
  return (
    <div class="captures-view">
      {isLive && <Triggers />}
      {error && <Failure text={error} />}
      {all.length === 0 && !error && !parts && <Nothing />}
      {all.length > 0 && listed.length === 0 && (
        <Empty title="No captures of the visible runs">
          <p>{plural(all.length, 'capture belongs', 'captures belong')} to runs that are hidden: show them on the left.</p>
        </Empty>
      )}
      {parts && (
        <div class="captures-columns">
          <nav class="captures-list" aria-label="Captures">
            {listed.map((entry) => (
              <Entry
                key={addressOf(entry.run, entry.name)}
                entry={entry}
                current={entry.run === parts.run && entry.name === parts.name}
              />
            ))}
            {value && value.older > 0 && <p class="muted">and {integer(value.older)} older ones, which `sonde captures` lists</p>}
          </nav>
          <Detail key={addressOf(parts.run, parts.name)} {...parts} />
        </div>
      )}
      {!isLive && <Triggers />}
    </div>
  );
}
