// Keyboard control of the whole page.
import { signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';

import { allViews } from '../registry';
import { cursorStep, setCursor, stepRange, stepSize, view } from '../state';
import { recordedFrom, recordedSteps } from '../ui/recorded';
import { jump } from './marks';
import { activeCard, fullCard, toggleFull, togglePin } from '../ui/cards';

export const helpOpen = signal(false);
export const drawer = signal(false); // the runs panel on a narrow screen
export const playing = signal(false);

export const kKeys: readonly [string, string][] = [
  ['/', 'filter tags'],
  ['r', 'filter runs'],
  ['← →', 'previous step, next step (shift: ten)'],
  ['Home End', 'first step, newest step'],
  ['n N', 'next, previous alert or capture'],
  ['space', 'play'],
  ['f', 'full screen of the card under the pointer'],
  ['p', 'pin the card under the pointer'],
  ['1 … 9', 'views'],
  ['+ − 0', 'on a chart: zoom in, zoom out, everything'],
  ['shift + ← →', 'on a chart: pan'],
  ['Esc', 'leave full screen, a menu or a field'],
  ['?', 'this help'],
];

const isField = (target: EventTarget | null) =>
  target instanceof HTMLElement && target.matches('input:not([type=range]):not([type=checkbox]), textarea, select');

function focusOn(id: string): void {
  const field = document.getElementById(id);
  if (!(field instanceof HTMLInputElement)) return;
  field.focus();
  field.select();
}

// Between recorded steps where cards show single steps, otherwise by about the distance of two points.
function move(direction: 1 | -1, far: boolean): void {
  const by = direction * (far ? 10 : 1);
  setCursor(recordedFrom(recordedSteps.peek(), cursorStep.peek(), by) ?? cursorStep.peek() + by * stepSize.peek());
}

function act(event: KeyboardEvent): boolean {
  const card = activeCard.peek() ?? (fullCard.peek() || null);
  switch (event.key) {
    case '/':
      focusOn('tag-filter');
      return true;
    case 'r':
      drawer.value = true;
      setTimeout(() => focusOn('run-filter'));
      return true;
    case 'ArrowLeft':
      move(-1, event.shiftKey);
      return true;
    case 'ArrowRight':
      move(1, event.shiftKey);
      return true;
    case 'n':
    case 'N':
      jump(event.key === 'n');
      return true;
    case 'Home':
      setCursor(stepRange.peek()[0]);
      return true;
    case 'End':
      setCursor(null);
      return true;
    case ' ':
      playing.value = !playing.peek();
      return true;
    case 'f':
      if (card) toggleFull(card);
      return card !== null;
    case 'p':
      if (card) togglePin(card);
      return card !== null;
    case '?':
      helpOpen.value = !helpOpen.peek();
      return true;
    case 'Escape':
      if (fullCard.peek()) fullCard.value = '';
      else drawer.value = false;
      return true;
    default: {
      const chosen = /^[1-9]$/.test(event.key) ? allViews()[Number(event.key) - 1] : undefined;
      if (chosen) view.value = chosen.id;
      return chosen !== undefined;
    }
  }
}

export function useKeys(): void {
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
      if (isField(event.target)) {
        if (event.key === 'Escape') (event.target as HTMLElement).blur();
        return;
      }
      const element = event.target as HTMLElement;
      // Sliders use the arrows, buttons the space bar, and a dialog everything.
      if (element.closest('dialog') && event.key !== '?') return;
      if (element.matches('input[type=range]') && /^(Arrow|Home|End)/.test(event.key)) return;
      if (event.key === ' ' && element.matches('button, a, summary, input, [role=slider]')) return;
      if (/^(Arrow|Home|End)/.test(event.key) && element.closest('[role=slider], .menu-panel')) return;
      if (act(event)) event.preventDefault();
    };
    document.addEventListener('keydown', onKey);
    return () => document.removeEventListener('keydown', onKey);
  }, []);
}
