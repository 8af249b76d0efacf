import { useLayoutEffect, useRef } from 'preact/hooks';

export interface NoteFieldProps {
  label: string;
  text: string; // to begin with
  onDone: (text: string | null) => void; // once; null: nothing was typed, or it is not wanted
}

// Enter and leaving the field keep what was typed, Escape does not.
export function NoteField({ label, text, onDone }: NoteFieldProps) {
  const field = useRef<HTMLTextAreaElement>(null);
  const edited = useRef(false);
  const done = useRef(false); // a field that vanishes loses the focus, and says so once more
  useLayoutEffect(() => field.current?.focus(), []); // before anybody can type
  const finish = (typed: string | null) => {
    if (done.current) return;
    done.current = true;
    onDone(edited.current ? typed : null);
  };
  return (
    <textarea
      ref={field}
      class="note-field"
      aria-label={label}
      title="Enter saves, Shift + Enter starts a new line, Escape cancels"
      placeholder="Enter saves, Shift + Enter: new line"
      rows={Math.min(8, Math.max(2, text.split('\n').length))}
      defaultValue={text}
      onInput={() => (edited.current = true)}
      onBlur={(event) => finish(event.currentTarget.value)}
      onKeyDown={(event) => {
        if (event.key === 'Enter' && !event.shiftKey && !event.isComposing) {
          event.preventDefault();
          finish(event.currentTarget.value);
        } else if (event.key === 'Escape') {
          event.stopPropagation();
          finish(null);
        }
      }}
    />
  );
}
