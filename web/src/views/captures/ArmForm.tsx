import './arm.css';
import { useState } from 'preact/hooks';

import * as api from '../../api';
import { Field } from '../../ui/Field';
import { placeOf } from './capture';

export const kNeedsToken = 'This needs the token: open the page by the address that `sonde serve` printed.';

// A condition for a running job, in the language of policies. An error is shown under the place in the expression.
export function ArmForm(props: { run: string; mayWrite: boolean; onArmed?: () => void }) {
  const { run, mayWrite } = props;
  const [when, setWhen] = useState('');
  const [before, setBefore] = useState(5);
  const [after, setAfter] = useState(2);
  const [error, setError] = useState<string | null>(mayWrite ? null : kNeedsToken);
  const [armed, setArmed] = useState(false);
  const arm = async () => {
    try {
      await api.arm(run, when, before, after);
      setError(null);
      setArmed(true);
      props.onArmed?.();
    } catch (failed) {
      setArmed(false);
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
  const place = error ? placeOf(error, when) : null;
  return (
    <>
      <div class="arm-fields">
        <input
          type="text"
          class="mono"
          aria-label="Condition"
          aria-invalid={place !== null}
          placeholder="loss > 1.0 or nonfinite('.*')"
          value={when}
          onInput={(event) => {
            setWhen(event.currentTarget.value);
            setArmed(false);
            if (mayWrite) setError(null);
          }}
          onKeyDown={(event) => event.key === 'Enter' && mayWrite && when.trim() !== '' && void arm()}
        />
        {place && (
          <pre class="arm-place bad" aria-hidden="true">
            {`${when}\n${' '.repeat(place.column - 1)}^ ${place.text}`}
          </pre>
        )}
        {error && (
          <p class={place ? 'visually-hidden' : 'bad'} role="alert">
            {error}
          </p>
        )}
        <div class="arm-steps">
          {steps('steps before', before, setBefore)}
          {steps('steps after', after, setAfter)}
          <button
            type="button"
            class="text-button primary"
            disabled={!mayWrite || when.trim() === ''}
            onClick={() => void arm()}
          >
            Arm
          </button>
        </div>
      </div>
      {armed && <p role="status">Armed. An alert appears when it fires.</p>}
    </>
  );
}
