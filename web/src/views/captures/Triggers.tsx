// Triggers of running jobs: those that are armed, and a form for another one.
import { useState } from 'preact/hooks';

import * as api from '../../api';
import type { Triggers as Armed } from '../../api_types';
import { change } from '../../live';
import { runs, status, visibleSet } from '../../state';
import { Choice } from '../../ui/Choice';
import { IconButton } from '../../ui/IconButton';
import { plural } from '../../ui/format';
import { useAsked } from '../../ui/hooks';
import { ArmForm, kNeedsToken } from './ArmForm';

const kStanding: Record<Armed['standing'], string> = {
  'in force': 'in force',
  refused: 'rejected by the recorder',
  'not read': 'no recorder has read them yet',
};

function List({ run, armed, onChange }: { run: string; armed: Armed; onChange: () => void }) {
  const mayWrite = status.value?.may_write ?? false;
  const [error, setError] = useState<string | null>(null);
  const disarm = async (number: number, when: string) => {
    try {
      await api.disarm(run, number, when);
      setError(null);
    } catch (failed) {
      setError(failed instanceof Error ? failed.message : String(failed));
    }
    onChange();
  };
  if (armed.triggers.length === 0) return <p class="muted">No trigger was added to this job; those of its own policy are not listed.</p>;
  return (
    <>
      <ul class="armed" aria-label={`Armed triggers of ${run}`}>
        {armed.triggers.map((trigger, i) => (
          <li key={`${i}${trigger.when}`}>
            <code>{trigger.when}</code>
            {trigger.name && <span class="muted">{trigger.name}</span>}
            <span class="muted">
              {plural(trigger.before, 'step')} before, {trigger.after} after
            </span>
            <IconButton
              icon="close"
              label={mayWrite ? `Disarm ${trigger.when}` : kNeedsToken}
              disabled={!mayWrite}
              onClick={() => void disarm(i, trigger.when)}
            />
          </li>
        ))}
      </ul>
      <p class={armed.standing === 'refused' ? 'bad' : 'muted'}>
        {kStanding[armed.standing]}
        {armed.but ? `: ${armed.but}` : ''}
      </p>
      {error && (
        <p class="bad" role="alert">
          {error}
        </p>
      )}
    </>
  );
}

function OfRun({ run }: { run: string }) {
  const mayWrite = status.value?.may_write ?? false;
  const [changes, setChanges] = useState(0);
  const again = () => setChanges((before) => before + 1);
  const { value, error } = useAsked(run, (signal) => api.triggers(run, signal), change.value.serial + changes);
  return (
    <>
      {value?.run === run && <List run={run} armed={value} onChange={again} />}
      {error && (
        <p class="bad" role="alert">
          {error}
        </p>
      )}
      <ArmForm run={run} mayWrite={mayWrite} onArmed={again} />
    </>
  );
}

export function Triggers() {
  const live = runs.value.filter((run) => run.state === 'live' && visibleSet.value.has(run.run)).map((run) => run.run);
  const [chosen, setChosen] = useState('');
  const run = live.includes(chosen) ? chosen : (live[0] ?? '');
  return (
    <section class="captures-triggers card" aria-label="Triggers">
      <h2>Triggers</h2>
      {run === '' && (
        <p class="muted">
          No visible run is being recorded now. A trigger can be armed here while a job runs, and before it starts with `sonde arm`.
        </p>
      )}
      {live.length > 1 && (
        <Choice label="Run" value={run} options={live.slice(0, 8).map((name) => ({ value: name, label: name }))} onChange={setChosen} />
      )}
      {run !== '' && <OfRun key={run} run={run} />}
    </section>
  );
}
