// Placeholders for missing data: each says what to do.
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';

import { IconButton } from './IconButton';

export function Empty(props: { title: string; children?: ComponentChildren }) {
  return (
    <div class="state" role="status">
      <h2>{props.title}</h2>
      {props.children}
    </div>
  );
}

export function Loading(props: { what?: string }) {
  return (
    <div class="state state-loading" role="status" aria-live="polite">
      {props.what ?? 'Reading'}…
    </div>
  );
}

export function Failure(props: { text: string; onRetry?: () => void }) {
  return (
    <div class="state state-failure" role="alert">
      <p>{props.text}</p>
      {props.onRetry && (
        <button type="button" class="text-button" onClick={props.onRetry}>
          Try again
        </button>
      )}
    </div>
  );
}

// A command or a piece of code, copied with one click.
export function Copy(props: { text: string }) {
  const [copied, setCopied] = useState(false);
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(props.text);
      setCopied(true);
      setTimeout(() => setCopied(false), 1500);
    } catch {
      // The clipboard may be blocked; the text can still be selected.
    }
  };
  return (
    <span class="copy">
      <code>{props.text}</code>
      <IconButton icon="copy" label={copied ? 'Copied' : 'Copy'} onClick={() => void copy()} />
      <span class="copy-done" role="status">
        {copied ? 'copied' : ''}
      </span>
    </span>
  );
}
