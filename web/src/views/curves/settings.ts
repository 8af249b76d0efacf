// Settings of the curves view: in the address, so that a link shows the same picture.
import { oneOf, urlSignal } from '../../url';

export type Extent = 'whole' | 'fitted';
export const extent = urlSignal<Extent>('pr', 'whole', oneOf<Extent>('whole', 'fitted'), { remember: true });
