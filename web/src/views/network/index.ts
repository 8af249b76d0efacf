import { register } from '../../registry';

register({
  id: 'network',
  title: 'Network',
  order: 15,
  kinds: ['statistics'],
  load: () => import('./View'),
});
