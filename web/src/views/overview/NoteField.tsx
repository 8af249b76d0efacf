import { useLayoutEffect, useRef } from 'preact/hooks';

export interface NoteFieldProps {
  label: string;
  text: string; // the initial text
  onDone: (text: string | null) => void; // called once; null: nothing was typed, or it was cancelled
}

// Enter and leaving the field save the text, Escape discards it.
export function NoteField({ label, text, onDone }: NoteFieldProps) {
  const field = useRef<HTMLTextAreaElement>(null);
  const edited = useRef(false);
  const done = useRef(false); // a field that is removed loses the focus, which would call it again
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
