import { useRef, useState } from 'preact/hooks';

import * as api from '../../api';
import type { Run } from '../../api_types';
import { refresh } from '../../live';
import { middle } from '../../ui/format';

export const kNeedsToken = 'This needs the token: open the page by the address that `sonde serve` printed.';

export function Note({ run, mayWrite }: { run: Run; mayWrite: boolean }) {
  const [editing, setEditing] = useState(false);
  const [error, setError] = useState<string | null>(null);
  const field = useRef<HTMLInputElement>(null);
  const save = async () => {
    const text = field.current?.value ?? '';
    setEditing(false);
    if (text === run.note) return;
    try {
      await api.note(run.run, text);
      setError(null);
      await refresh(false);
    } catch (failed) {
      setError(failed instanceof Error ? failed.message : String(failed));
    }
  };
  if (editing)
    return (
      <input
        ref={(element) => {
          field.current = element;
          element?.focus();
        }}
        type="text"
        class="note-field"
        aria-label={`Note of ${run.run}`}
        defaultValue={run.note}
        onBlur={() => void save()}
        onKeyDown={(event) => {
          if (event.key === 'Enter') void save();
          if (event.key === 'Escape') {
            event.stopPropagation();
            setEditing(false);
          }
        }}
      />
    );
  return (
    <button
      type="button"
      class={`note ${run.note ? '' : 'muted'}`}
      aria-label={run.note ? `Note of ${run.run}: ${run.note}. Edit` : `Add a note to ${run.run}`}
      title={error ?? (mayWrite ? run.note || 'Add a note' : kNeedsToken)}
      onClick={() => (mayWrite ? setEditing(true) : setError(kNeedsToken))}
    >
      {error ? <span class="bad">{error}</span> : run.note ? middle(run.note.split('\n')[0] ?? '', 32) : 'add a note'}
    </button>
  );
}
