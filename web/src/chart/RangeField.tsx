import { Field } from '../ui/Field';

export interface RangeFieldProps {
  label: string;
  placeholder: string; // shown while the field is empty
  value: number | null;
  onChange: (value: number | null) => void;
}

// One end of a range: a number, or empty if it is fitted. Invalid input changes nothing.
export function RangeField({ label, placeholder, value, onChange }: RangeFieldProps) {
  return (
    <Field
      class="range-field"
      inputMode="decimal"
      label={label}
      placeholder={placeholder}
      value={value === null ? '' : String(value)}
      onCommit={(text) => {
        const wanted = Number(text);
        if (text.trim() === '') onChange(null);
        else if (Number.isFinite(wanted)) onChange(wanted);
      }}
    />
  );
}
