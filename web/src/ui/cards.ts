// Which card fills the screen, which are pinned, and which one the keys `f` and `p` mean.
import { signal } from '@preact/signals';

import { list, text, urlSignal } from '../url';

export const fullCard = urlSignal('full', '', text);
export const pins = urlSignal<string[]>('pin', [], list, { remember: true });
export const activeCard = signal<string | null>(null); // under the pointer, or with the focus inside

export function toggleFull(id: string): void {
  fullCard.value = fullCard.peek() === id ? '' : id;
}

export function togglePin(id: string): void {
  const old = pins.peek();
  pins.value = old.includes(id) ? old.filter((one) => one !== id) : [...old, id];
}
