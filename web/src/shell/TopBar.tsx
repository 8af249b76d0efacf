import { useEffect, useRef } from 'preact/hooks';

import { connect, connection, connectionText, growing, refresh } from '../live';
import { allViews } from '../registry';
import { loadError, tagFilter, tagPattern, tagsByKind, theme, view } from '../state';
import { IconButton } from '../ui/IconButton';
import { integer } from '../ui/format';
import { SavedViews } from './SavedViews';
import { drawer, helpOpen } from './keys';

function Connection() {
  const state = connection.value;
  const failed = state === 'live' ? loadError.value : null; // the stream is open, but other requests fail
  const look = failed ? 'lost' : state === 'live' && !growing.value ? 'idle' : state;
  return (
    <button
      type="button"
      class={`connection connection-${look}`}
      aria-label={`Connection: ${connectionText.value}`}
      title={
        state === 'lost'
          ? 'The server does not answer. Click to try again now.'
          : (failed ?? 'New points appear by themselves.')
      }
      onClick={() => {
        if (state !== 'live') connect();
        else if (failed) void refresh();
      }}
      data-connection={state}
    >
      <span class="connection-dot" aria-hidden="true" />
      <span class="connection-text" role="status">
        {connectionText.value}
      </span>
    </button>
  );
}

const kThemes = { auto: 'dark', dark: 'light', light: 'auto' } as const;
const kThemeIcons = { auto: 'auto', dark: 'moon', light: 'sun' } as const;

export function TopBar({ current }: { current: string }) {
  const names = tagsByKind.value;
  const error = tagPattern.value.error;
  const nav = useRef<HTMLElement>(null);
  // A phone has no room for all views: scroll the open one into view.
  useEffect(() => {
    nav.current?.querySelector('[aria-current]')?.scrollIntoView({ inline: 'nearest', block: 'nearest' });
  }, [current]);
  return (
    <header class="top">
      <IconButton
        class="drawer-button"
        icon="menu"
        label="Runs"
        expanded={drawer.value}
        onClick={() => (drawer.value = !drawer.value)}
      />
      <h1 class="brand">
        <svg viewBox="0 0 16 16" width="16" height="16" aria-hidden="true">
          <circle cx="8" cy="8" r="6.5" fill="none" stroke="currentColor" stroke-width="2" />
          <circle cx="8" cy="8" r="3" fill="currentColor" />
        </svg>
        <span>Sonde</span>
      </h1>
      <nav class="views" aria-label="Views" ref={nav}>
        {allViews().map((one) => {
          // A tag with histograms and statistics is one card.
          const count = new Set(one.kinds.flatMap((kind) => names.get(kind) ?? [])).size;
          return (
            <a
              key={one.id}
              href={`#/${one.id}`}
              class="view-link"
              {...(one.id === current ? { 'aria-current': 'page' as const } : {})}
              onClick={(event) => {
                if (event.ctrlKey || event.metaKey || event.shiftKey) return;
                event.preventDefault();
                view.value = one.id;
              }}
            >
              {one.title}
              {one.kinds.length > 0 && <span class="count">{integer(count)}</span>}
            </a>
          );
        })}
      </nav>
      <div class="tag-filter">
      <input
        id="tag-filter"
        type="search"
        placeholder="/ filter tags"
        aria-label="Filter tags by a regular expression"
        aria-invalid={error !== null}
        title={error ? `Taken as plain text: ${error}.` : 'A regular expression (RE2 syntax)'}
        value={tagFilter.value}
        onInput={(event) => (tagFilter.value = event.currentTarget.value)}
      />
      {error && (
        <p class="filter-error bad" role="status">
          Taken as plain text: {error}.
        </p>
      )}
      </div>
      <span class="spring" />
      <Connection />
      <SavedViews />
      <IconButton
        icon={kThemeIcons[theme.value]}
        label={`Theme: ${theme.value}`}
        onClick={() => (theme.value = kThemes[theme.value])}
      />
      <button
        type="button"
        class="icon-button"
        aria-label="Keyboard help (?)"
        title="Keyboard help (?)"
        onClick={() => (helpOpen.value = true)}
      >
        ?
      </button>
    </header>
  );
}
