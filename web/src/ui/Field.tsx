import { useEffect, useRef, useState } from 'preact/hooks';

export interface FieldProps {
  label: string;
  value: string; // the current value; it may change at any time on a live log
  onCommit: (text: string) => void; // only if it differs from the value
  placeholder?: string;
  inputMode?: 'numeric' | 'decimal';
  class?: string;
}

// A text field that can be edited while the page changes: the input stays until Enter or leaving the field commits it,
// or Escape discards it.
export function Field(props: FieldProps) {
  const [draft, setDraft] = useState<string | null>(null); // null: the value is shown
  const begun = useRef(''); // the value when the field got the focus
  const latest = useRef({ draft, onCommit: props.onCommit });
  latest.current = { draft, onCommit: props.onCommit };
  const edit = (text: string | null) => {
    latest.current.draft = text;
    setDraft(text);
  };
  const take = () => {
    const { draft: typed, onCommit } = latest.current;
    latest.current.draft = null;
    if (typed !== null && typed !== begun.current) onCommit(typed);
  };
  const commit = () => {
    take();
    setDraft(null);
  };
  useEffect(() => take, []); // a menu that closes removes its fields
  return (
    <input
      type="text"
      autocomplete="off"
      class={props.class ?? ''}
      aria-label={props.label}
      {...(props.inputMode ? { inputMode: props.inputMode } : {})}
      {...(props.placeholder ? { placeholder: props.placeholder } : {})}
      value={draft ?? props.value}
      onFocus={() => {
        begun.current = props.value;
        edit(props.value);
      }}
      onInput={(event) => {
        if (latest.current.draft === null) begun.current = props.value;
        edit(event.currentTarget.value);
      }}
      onBlur={commit}
      onKeyDown={(event) => {
        if (event.key === 'Enter' && !event.isComposing) commit();
        else if (event.key === 'Escape' && latest.current.draft !== null && latest.current.draft !== begun.current) {
          event.stopPropagation(); // the next one closes the menu or dialog
          edit(null);
        }
      }}
    />
  );
}
