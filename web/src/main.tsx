import { render } from 'preact';

import './styles/base.css';
import './styles/ui.css';
import './styles/shell.css';
import './styles/chart.css';
import { start } from './live';
import { allViews, loadView, viewOf } from './registry';
import { App } from './shell/App';
import { view } from './url';

// Each view's folder registers itself.
import.meta.glob('./views/*/index.ts', { eager: true });

const kPatience = 400; // ms

// The page is rendered once, with the first data and the code of its view, if both come soon: rendering it without them
// first costs as much as all the rest.
const first = viewOf(view.peek()) ?? allViews()[0];
const patience = new Promise((done) => setTimeout(done, kPatience));
const data = Promise.all([start(), first && loadView(first.id).catch(() => undefined)]);
void Promise.race([data, patience]).then(() => {
  const root = document.getElementById('app');
  if (root) render(<App />, root);
});
