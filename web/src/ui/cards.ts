// The card that fills the screen, the pinned cards, and the card that the keys `f` and `p` refer to.
import { signal } from '@preact/signals';

import { list, text, urlSignal } from '../url';

export const fullCard = urlSignal('full', '', text);
export const pins = urlSignal<string[]>('pin', [], list, { remember: true });
export const activeCard = signal<string | null>(null); // under the pointer, or with the focus inside

export function toggleFull(id: string): void {
  fullCard.value = fullCard.peek() === id ? '' : id;
}

// A pinned card is created again at another place. The focus moves with it.
const kFocusable = 'a[href], button, input, select, textarea, [tabindex]';
const cardWithFocus = signal<string | null>(null);
let moving: { id: string; at: number } | null = null;

export const focusEntered = (id: string) => (cardWithFocus.value = id);
export const focusLeft = (id: string) => cardWithFocus.peek() === id && (cardWithFocus.value = null);

// Whether a card must stay rendered wherever its place is: it fills the screen, or has the focus.
export const isHeld = (id: string): boolean => fullCard.value === id || cardWithFocus.value === id || moving?.id === id;

function takeFocusAlong(id: string): void {
  const focused = document.activeElement;
  const card = focused?.closest('[data-card]');
  if (!card || card.getAttribute('data-card') !== id) return;
  const at = [...card.querySelectorAll(kFocusable)].indexOf(focused as Element);
  const mine = { id, at };
  moving = mine;
  // A card that is no longer shown, because its section is folded, loses its claim.
  setTimeout(() => moving === mine && (moving = null), 1000);
}

export function cardMade(id: string, card: HTMLElement): void {
  if (moving?.id !== id) return;
  const { at } = moving;
  moving = null;
  const inside = [...card.querySelectorAll<HTMLElement>(kFocusable)];
  (inside[at] ?? inside[0])?.focus();
}

export function togglePin(id: string): void {
  if (typeof document !== 'undefined') takeFocusAlong(id);
  const old = pins.peek();
  pins.value = old.includes(id) ? old.filter((one) => one !== id) : [...old, id];
}

// Puts a pinned card at the place of another one.
export function movePin(id: string, to: string): void {
  const old = pins.peek();
  const at = old.indexOf(to);
  if (!old.includes(id) || at < 0 || id === to) return;
  const others = old.filter((one) => one !== id);
  others.splice(at, 0, id);
  pins.value = others;
}
