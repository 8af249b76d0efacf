import { useEffect, useRef, useState } from 'preact/hooks';

import * as api from '../../api';
import type { Run } from '../../api_types';
import { refresh } from '../../live';
import { integer } from '../../ui/format';
import { kNeedsToken } from '../captures/ArmForm';

// Asks for confirmation; even then nothing is lost.
export function DeleteDialog({ run, mayWrite, onClose }: { run: Run; mayWrite: boolean; onClose: () => void }) {
  const dialog = useRef<HTMLDialogElement>(null);
  const [error, setError] = useState<string | null>(mayWrite ? null : kNeedsToken);
  const [busy, setBusy] = useState(false);
  useEffect(() => dialog.current?.showModal(), []);
  const remove = async () => {
    setBusy(true);
    try {
      await api.remove(run.run);
      await refresh();
      dialog.current?.close();
    } catch (failed) {
      setError(failed instanceof Error ? failed.message : String(failed));
      setBusy(false);
    }
  };
  return (
    <dialog ref={dialog} class="dialog" aria-label={`Delete ${run.run}`} onClose={onClose}>
      <h2>Delete {run.run}?</h2>
      <p>
        Its files with {integer(run.points)} points are moved to the folder <code>.sonde-trash</code> in the log
        directory. Runs below it stay.
        {run.state === 'live' && <strong class="bad"> It is still being recorded.</strong>}
      </p>
      {error && (
        <p class="bad" role="alert">
          {error}
        </p>
      )}
      <div class="dialog-actions">
        <button type="button" class="text-button" onClick={() => dialog.current?.close()}>
          Keep it
        </button>
        <button type="button" class="text-button danger" disabled={busy || !mayWrite} onClick={() => void remove()}>
          Delete
        </button>
      </div>
    </dialog>
  );
}
