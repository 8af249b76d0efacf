import { middle } from '../../ui/format';
import { nameOf } from './columns';

export interface ColumnSelectProps {
  label: string;
  options: { hparams: string[]; metrics: string[] };
  value: string;
  onChange: (id: string) => void;
}

// Selects one of all hyper-parameters and metrics.
export function ColumnSelect({ label, options, value, onChange }: ColumnSelectProps) {
  const group = (title: string, ids: string[]) =>
    ids.length > 0 && (
      <optgroup label={title}>
        {ids.map((id) => (
          <option key={id} value={id}>
            {middle(nameOf(id), 40)}
          </option>
        ))}
      </optgroup>
    );
  return (
    <select aria-label={label} title={label} value={value} onChange={(event) => onChange(event.currentTarget.value)}>
      {group('Hyper-parameters', options.hparams)}
      {group('Metrics', options.metrics)}
    </select>
  );
}
