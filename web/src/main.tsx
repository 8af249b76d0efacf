import { render } from 'preact';

import './styles/base.css';
import './styles/ui.css';
import './styles/shell.css';
import './styles/chart.css';
import { start } from './live';
import { allViews, viewOf } from './registry';
import { App } from './shell/App';
import { view } from './url';

// Each view's folder registers itself.
import.meta.glob('./views/*/index.ts', { eager: true });

// The code of the first view loads together with the first data.
void (viewOf(view.peek()) ?? allViews()[0])?.load();

const root = document.getElementById('app');
if (root) render(<App />, root);
start();
