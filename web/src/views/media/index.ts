import { register } from '../../registry';

register({
  id: 'media',
  title: 'Media',
  order: 40,
  kinds: ['images', 'audio', 'text'],
  load: () => import('./View'),
});
