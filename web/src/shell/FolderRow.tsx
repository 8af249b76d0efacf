import { everything, isSelected, solo, toggled } from '../selection';
import { selection } from '../state';
import { IconButton } from '../ui/IconButton';
import { Icon } from '../ui/icons';
import { integer, middle } from '../ui/format';
import { toggleClosed } from './order';
import type { Row } from './tree';

export function FolderRow({ row }: { row: Extract<Row, { type: 'folder' }> }) {
  const some = row.runs.some((run) => isSelected(selection.value, run));
  return (
    <div class={`run-row folder-row ${some ? '' : 'run-hidden'}`} style={{ paddingLeft: `${4 + 14 * row.depth}px` }}>
      <button
        type="button"
        class="run-name"
        aria-expanded={row.open}
        aria-label={`${row.open ? 'Fold' : 'Unfold'} ${row.label}`}
        title={row.label}
        onClick={() => toggleClosed(row.id)}
      >
        <Icon name={row.open ? 'down' : 'right'} />
        {middle(row.label, 26 - 2 * row.depth)}
      </button>
      <span class="run-word">{integer(row.runs.length)}</span>
      <IconButton
        class="run-solo"
        icon={some ? 'eye' : 'eyeOff'}
        label={some ? `Hide all of ${row.label}` : `Show all of ${row.label}`}
        onClick={() => (selection.value = toggled(selection.peek(), row.runs, !some))}
      />
      <IconButton
        class="run-solo"
        icon="solo"
        label={`Show only ${row.label}`}
        onClick={() => (selection.value = row.runs.length > 0 ? solo(row.runs) : everything)}
      />
    </div>
  );
}
