import { Field } from '../ui/Field';

export interface RangeFieldProps {
  label: string;
  placeholder: string; // what nothing means
  value: number | null;
  onChange: (value: number | null) => void;
}

// One end of a range: a number, or nothing where it is fitted. What is no number changes nothing.
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
