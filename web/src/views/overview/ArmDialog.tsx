import { useEffect, useRef, useState } from 'preact/hooks';

import * as api from '../../api';
import type { Run } from '../../api_types';
import { Field } from '../../ui/Field';
import { kNeedsToken } from './Note';

// Tells a running job to save the steps around the one at which a condition becomes true.
export function ArmDialog({ run, mayWrite, onClose }: { run: Run; mayWrite: boolean; onClose: () => void }) {
  const dialog = useRef<HTMLDialogElement>(null);
  const [when, setWhen] = useState('');
  const [before, setBefore] = useState(5);
  const [after, setAfter] = useState(2);
  const [error, setError] = useState<string | null>(mayWrite ? null : kNeedsToken);
  const [armed, setArmed] = useState(false);
  useEffect(() => dialog.current?.showModal(), []);
  const arm = async () => {
    try {
      await api.arm(run.run, when, before, after);
      setError(null);
      setArmed(true);
    } catch (failed) {
      setError(failed instanceof Error ? failed.message : String(failed));
    }
  };
  const steps = (label: string, value: number, set: (value: number) => void) => (
    <label class="menu-row">
      <span class="muted">{label}</span>
      <Field
        class="range-field"
        inputMode="numeric"
        label={label}
        value={String(value)}
        onCommit={(text) => {
          if (/^\d{1,9}$/.test(text.trim())) set(Number(text));
        }}
      />
    </label>
  );
  return (
    <dialog ref={dialog} class="dialog" aria-label={`Arm a trigger in ${run.run}`} onClose={onClose}>
      <h2>Arm a trigger in {run.run}</h2>
      <p class="muted">When the condition is true at the end of a step, all tensors of that step and of the steps around it are saved.</p>
      <div class="arm-fields">
        <input
          type="text"
          class="mono"
          aria-label="Condition"
          placeholder="loss > 1.0 or nonfinite('.*')"
          value={when}
          onInput={(event) => {
            setWhen(event.currentTarget.value);
            setArmed(false);
          }}
          onKeyDown={(event) => event.key === 'Enter' && mayWrite && void arm()}
        />
        <div class="arm-steps">
          {steps('steps before', before, setBefore)}
          {steps('steps after', after, setAfter)}
        </div>
      </div>
      {error && (
        <p class="bad" role="alert">
          {error}
        </p>
      )}
      {armed && <p role="status">Armed. An alert appears when it fires.</p>}
      <div class="dialog-actions">
        <button type="button" class="text-button" onClick={() => dialog.current?.close()}>
          Close
        </button>
        <button
          type="button"
          class="text-button primary"
          disabled={!mayWrite || when.trim() === ''}
          onClick={() => void arm()}
        >
          Arm
        </button>
      </div>
    </dialog>
  );
}
