import { register } from '../../registry';

register({ id: 'captures', title: 'Captures', order: 45, kinds: [], load: () => import('./View') });
