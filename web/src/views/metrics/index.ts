import { register } from '../../registry';

register({ id: 'metrics', title: 'Metrics', order: 20, kinds: ['scalars'], load: () => import('./Metrics') });
