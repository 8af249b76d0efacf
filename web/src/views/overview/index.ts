import { register } from '../../registry';

register({ id: 'overview', title: 'Overview', order: 10, kinds: [], load: () => import('./Overview') });
