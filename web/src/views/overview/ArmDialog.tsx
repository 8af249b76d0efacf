import { useEffect, useRef } from 'preact/hooks';

import type { Run } from '../../api_types';
import { ArmForm } from '../captures/ArmForm';

// Tells a running job to save the steps around the one at which a condition becomes true.
export function ArmDialog({ run, mayWrite, onClose }: { run: Run; mayWrite: boolean; onClose: () => void }) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => dialog.current?.showModal(), []);
  return (
    <dialog ref={dialog} class="dialog" aria-label={`Arm a trigger in ${run.run}`} onClose={onClose}>
      <h2>Arm a trigger in {run.run}</h2>
      <p class="muted">When the condition is true at the end of a step, all tensors of that step and of the steps around it are saved.</p>
      <ArmForm run={run.run} mayWrite={mayWrite} />
      <div class="dialog-actions">
        <button type="button" class="text-button" onClick={() => dialog.current?.close()}>
          Close
        </button>
      </div>
    </dialog>
  );
}
