// One end of a range: a number, or nothing where it is fitted.
export function RangeField(props: { label: string; value: number | null; onChange: (value: number | null) => void }) {
  return (
    <input
      type="text"
      inputMode="decimal"
      class="range-field"
      aria-label={props.label}
      placeholder={props.label}
      value={props.value ?? ''}
      onChange={(event) => {
        const text = event.currentTarget.value.trim();
        const wanted = Number(text);
        props.onChange(text === '' || !Number.isFinite(wanted) ? null : wanted);
      }}
    />
  );
}
