import type { ComponentChildren } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';

import { Icon, type IconName } from './icons';
import { placed } from './place';

export interface MenuProps {
  label: string;
  icon?: IconName;
  text?: ComponentChildren; // on the button, instead of an icon
  align?: 'left' | 'right';
  children: (close: () => void) => ComponentChildren; // rendered only while it is open
}

// Placed where there is room: a scrolling container clips the panel, unless a card fills the window.
function place(panel: HTMLElement, button: HTMLElement): void {
  const scroller = panel.closest('.card-full') ? null : panel.closest('[data-scroller]');
  const { top, bottom, left, right } = scroller?.getBoundingClientRect() ?? {
    top: 0,
    bottom: window.innerHeight,
    left: 0,
    right: window.innerWidth,
  };
  panel.style.maxHeight = panel.style.transform = '';
  panel.classList.remove('menu-up');
  const now = panel.getBoundingClientRect();
  const found = placed(now, button.getBoundingClientRect(), { top, bottom, left, right });
  panel.classList.toggle('menu-up', found.up);
  if (found.height !== null) panel.style.maxHeight = `${found.height}px`;
  if (found.shift !== 0) panel.style.transform = `translateX(${found.shift}px)`;
}

// A button that opens a panel. Escape, a click elsewhere and choosing an item close it; the arrow keys move within it.
export function Menu(props: MenuProps) {
  const [open, setOpen] = useState(false);
  const root = useRef<HTMLDivElement>(null);
  const button = useRef<HTMLButtonElement>(null);
  const panel = useRef<HTMLDivElement>(null);
  const close = () => {
    setOpen(false);
    button.current?.focus();
  };
  // After every render: the content may have grown.
  useLayoutEffect(() => {
    if (panel.current && button.current) place(panel.current, button.current);
  });
  useEffect(() => {
    if (!open) return;
    const outside = (event: PointerEvent) => {
      if (!root.current?.contains(event.target as Node)) setOpen(false);
    };
    document.addEventListener('pointerdown', outside);
    root.current?.querySelector<HTMLElement>('.menu-panel :is(button, input, select, a)')?.focus();
    return () => document.removeEventListener('pointerdown', outside);
  }, [open]);
  const onKey = (event: KeyboardEvent) => {
    if (!open) return;
    if (event.key === 'Escape') {
      event.stopPropagation();
      close();
    }
    const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0;
    if (step === 0 || (event.target as HTMLElement).matches('select, input:not([type=checkbox])')) return;
    event.preventDefault();
    event.stopPropagation();
    const items = [...(root.current?.querySelectorAll<HTMLElement>('.menu-panel :is(button, input, select, a)') ?? [])];
    const at = items.indexOf(document.activeElement as HTMLElement);
    items[(at + step + items.length) % items.length]?.focus();
  };
  return (
    <div class="menu" ref={root} onKeyDown={onKey}>
      <button
        ref={button}
        type="button"
        class={props.icon ? 'icon-button' : 'text-button'}
        aria-label={props.label}
        title={props.label}
        aria-haspopup="true"
        aria-expanded={open}
        onClick={() => setOpen(!open)}
      >
        {props.icon ? <Icon name={props.icon} /> : props.text}
      </button>
      {open && (
        <div ref={panel} class={`menu-panel menu-${props.align ?? 'right'}`} role="group" aria-label={props.label}>
          {props.children(close)}
        </div>
      )}
    </div>
  );
}

export function MenuItem(props: { onClick: () => void; disabled?: boolean; children: ComponentChildren }) {
  return (
    <button type="button" class="menu-item" disabled={props.disabled ?? false} onClick={props.onClick}>
      {props.children}
    </button>
  );
}

export function MenuCheck(props: { label: string; checked: boolean; onChange: (checked: boolean) => void }) {
  return (
    <label class="menu-item">
      <input
        type="checkbox"
        checked={props.checked}
        onChange={(event) => props.onChange(event.currentTarget.checked)}
      />
      {props.label}
    </label>
  );
}
