import { register } from '../../registry';

register({
  id: 'distributions',
  title: 'Distributions',
  order: 30,
  kinds: ['histograms', 'statistics'],
  load: () => import('./View'),
});
