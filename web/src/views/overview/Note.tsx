import { useRef, useState } from 'preact/hooks';

import * as api from '../../api';
import type { Run } from '../../api_types';
import { refresh } from '../../live';
import { middle } from '../../ui/format';
import { kNeedsToken } from '../captures/ArmForm';
import { NoteField } from './NoteField';

export function Note({ run, mayWrite }: { run: Run; mayWrite: boolean }) {
  const [editing, setEditing] = useState(false);
  const [error, setError] = useState<string | null>(null);
  const unsaved = useRef<string | null>(null); // text that the server did not accept: the start of the next attempt
  const save = async (text: string) => {
    try {
      await api.note(run.run, text);
      unsaved.current = null;
      setError(null);
      await refresh(false);
    } catch (failed) {
      unsaved.current = text;
      setError(failed instanceof Error ? failed.message : String(failed));
    }
  };
  if (editing)
    return (
      <NoteField
        label={`Note of ${run.run}`}
        text={unsaved.current ?? run.note}
        onDone={(text) => {
          setEditing(false);
          if (text !== null && text !== run.note) void save(text);
        }}
      />
    );
  const [first = '', ...more] = run.note.split('\n');
  return (
    <button
      type="button"
      class={`note ${run.note ? '' : 'muted'}`}
      aria-label={run.note ? `Note of ${run.run}: ${run.note}. Edit` : `Add a note to ${run.run}`}
      title={error ?? (mayWrite ? run.note || 'Add a note' : kNeedsToken)}
      onClick={() => (mayWrite ? setEditing(true) : setError(kNeedsToken))}
    >
      {error ? (
        <span class="bad">{error}</span>
      ) : run.note ? (
        middle(first, 32) + (more.length > 0 ? ' …' : '')
      ) : (
        'add a note'
      )}
    </button>
  );
}
