import type { ComponentType } from 'preact';
import { useEffect, useState } from 'preact/hooks';

import { allViews, viewOf } from '../registry';
import { view } from '../state';
import { Failure, Loading } from '../ui/states';

function useView(id: string): { component: ComponentType | null; error: string | null } {
  const [state, setState] = useState<{ id: string; component: ComponentType | null; error: string | null }>({
    id: '',
    component: null,
    error: null,
  });
  useEffect(() => {
    let current = true;
    const found = viewOf(id);
    if (!found) return;
    found.load().then(
      (module) => current && setState({ id, component: module.default, error: null }),
      () => current && setState({ id, component: null, error: 'This view could not be loaded: reload the page.' }),
    );
    return () => {
      current = false;
    };
  }, [id]);
  return state.id === id ? state : { component: null, error: null };
}

export function App() {
  const first = allViews()[0]?.id ?? '';
  const id = viewOf(view.value) ? view.value : first;
  const { component: View, error } = useView(id);
  return (
    <div class="app">
      <nav class="top">
        {allViews().map((one) => (
          <a key={one.id} href={`#/${one.id}`}>
            {one.title}
          </a>
        ))}
      </nav>
      <main class="main" data-scroller>
        {View ? <View /> : error ? <Failure text={error} /> : <Loading />}
      </main>
    </div>
  );
}
