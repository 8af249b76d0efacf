import { register } from '../../registry';

register({
  id: 'trials',
  title: 'Trials',
  order: 60,
  kinds: [],
  load: () => import('./View'),
});
