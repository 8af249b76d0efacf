import { useEffect, useRef } from 'preact/hooks';

import { status } from '../state';
import { IconButton } from '../ui/IconButton';
import { helpOpen, kKeys } from './keys';

export function Help() {
  const dialog = useRef<HTMLDialogElement>(null);
  const open = helpOpen.value;
  useEffect(() => {
    const element = dialog.current;
    if (open && !element?.open) element?.showModal();
    else if (!open && element?.open) element.close();
  }, [open]);
  return (
    <dialog ref={dialog} class="dialog" aria-label="Keyboard help" onClose={() => (helpOpen.value = false)}>
      <header class="dialog-head">
        <h2>Keys</h2>
        <IconButton icon="close" label="Close" onClick={() => (helpOpen.value = false)} />
      </header>
      <dl class="keys">
        {kKeys.map(([key, text]) => (
          <div key={key}>
            <dt>
              <kbd>{key}</kbd>
            </dt>
            <dd>{text}</dd>
          </div>
        ))}
      </dl>
      <p class="muted">
        On a chart: click sets the step, drag zooms, shift + drag pans, alt + drag marks a range, ctrl + wheel zooms,
        double click shows everything; drag on the y axis zooms y. With fingers: tap sets the step, two zoom and pan.
      </p>
      <p class="muted">Sonde {status.value?.version ?? ''}</p>
    </dialog>
  );
}
