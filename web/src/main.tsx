import { render } from 'preact';

import './styles/base.css';
import './styles/ui.css';
import './styles/shell.css';
import './styles/chart.css';
import { start } from './live';
import { App } from './shell/App';

// Each view's folder registers itself.
import.meta.glob('./views/*/index.ts', { eager: true });

const root = document.getElementById('app');
if (root) render(<App />, root);
start();
