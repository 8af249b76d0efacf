import { register } from '../../registry';

register({
  id: 'curves',
  title: 'Curves',
  order: 50,
  kinds: ['pr_curves'],
  load: () => import('./View'),
});
