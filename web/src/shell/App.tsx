import type { ComponentType } from 'preact';
import { useEffect, useState } from 'preact/hooks';

import { allViews, componentOf, loadView, viewOf } from '../registry';
import { loadError, loaded, runs, status, view } from '../state';
import { refresh } from '../live';
import { Failure, Loading } from '../ui/states';
import { CursorBar } from './CursorBar';
import { Help } from './Help';
import { NoRuns } from './NoRuns';
import { RunsPanel } from './RunsPanel';
import { TopBar } from './TopBar';
import { drawer, useKeys } from './keys';

// The component of a view, at once if its code is there.
function useView(id: string): { component: ComponentType | undefined; error: string | null } {
  const [failed, setFailed] = useState('');
  const [, setLoaded] = useState('');
  const component = componentOf(id);
  useEffect(() => {
    if (component) return; // rendered with it
    let current = true;
    loadView(id).then(
      () => current && setLoaded(id),
      () => current && setFailed(id),
    );
    return () => {
      current = false;
    };
  }, [id]);
  return { component, error: !component && failed === id ? 'This view could not be loaded: reload the page.' : null };
}

function Body({ id }: { id: string }) {
  const { component: View, error } = useView(id);
  if (error) return <Failure text={error} onRetry={() => location.reload()} />;
  if (!loaded.value) {
    if (loadError.value) return <Failure text={loadError.value} onRetry={() => void refresh()} />;
    return <Loading what="Reading the log" />;
  }
  const reading = status.value && status.value.progress.runs_read < status.value.progress.runs_found;
  if (runs.value.length === 0) return reading ? <Loading what="Reading the log" /> : <NoRuns />;
  return View ? <View /> : <Loading what="Opening" />;
}

export function App() {
  const id = viewOf(view.value) ? view.value : (allViews()[0]?.id ?? '');
  useEffect(() => {
    if (view.peek() !== id) view.value = id;
    const title = viewOf(id)?.title;
    document.title = title ? `${title} - Sonde` : 'Sonde';
  }, [id]);
  useKeys();
  return (
    <div class={`app ${drawer.value ? 'drawer-open' : ''}`}>
      <a
        class="skip"
        href="#main"
        onClick={(event) => (event.preventDefault(), document.getElementById('main')?.focus())}
      >
        To the charts
      </a>
      <TopBar current={id} />
      <RunsPanel />
      {drawer.value && <div class="drawer-shade" onClick={() => (drawer.value = false)} />}
      <main id="main" class="main" data-scroller tabIndex={-1} key={id}>
        <Body id={id} />
      </main>
      <CursorBar />
      <Help />
    </div>
  );
}
