import type { ComponentChildren, RefObject } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';

import { middle } from './format';
import { IconButton } from './IconButton';
import { activeCard, cardMade, focusEntered, focusLeft, fullCard, pins, toggleFull, togglePin } from './cards';

export interface CardProps {
  id: string; // unique on the page, and stable: "metrics:loss"
  title: string;
  fullTitle?: string; // on hover, if the title is shortened
  subtitle?: ComponentChildren;
  controls?: ComponentChildren; // shown on hover and by keyboard, before full screen and pin
  mayPin?: boolean;
  class?: string;
  data?: Record<string, string>; // data-* attributes, without the prefix
  elementRef?: RefObject<HTMLElement | null>;
  children: ComponentChildren;
}

// A full-screen card leaves the bars of the page: it begins below the view's toolbar, however many rows that has.
function useFull(card: RefObject<HTMLElement | null>, full: boolean): void {
  useLayoutEffect(() => {
    const element = card.current;
    const main = element?.closest('main');
    if (!element || !main || !full) return;
    const toolbar = main.querySelector('.toolbar');
    const fit = () => {
      const { top, bottom } = main.getBoundingClientRect();
      const below = Math.max(top, toolbar?.getBoundingClientRect().bottom ?? top);
      element.style.inset = `${below + 8}px 8px ${window.innerHeight - bottom + 8}px 8px`;
    };
    fit();
    const observer = new ResizeObserver(fit);
    observer.observe(main);
    if (toolbar) observer.observe(toolbar);
    return () => {
      observer.disconnect();
      element.style.inset = '';
    };
  }, [full]);
}

export function Card(props: CardProps) {
  const { id } = props;
  const title = props.title || '(no name)'; // tags may be empty
  const own = useRef<HTMLElement>(null);
  const root = props.elementRef ?? own;
  useLayoutEffect(() => {
    if (root.current) cardMade(id, root.current);
  }, []);
  const full = fullCard.value === id;
  useFull(root, full);
  const pinned = pins.value.includes(id);
  const data = Object.fromEntries(Object.entries(props.data ?? {}).map(([key, value]) => [`data-${key}`, value]));
  return (
    <section
      {...data}
      ref={root}
      class={`card ${full ? 'card-full' : ''} ${props.class ?? ''}`}
      data-card={id}
      aria-label={title}
      onPointerEnter={() => (activeCard.value = id)}
      onPointerLeave={() => activeCard.peek() === id && (activeCard.value = null)}
      onFocusIn={() => {
        activeCard.value = id;
        focusEntered(id);
      }}
      onFocusOut={(event) => event.currentTarget.contains(event.relatedTarget as Node | null) || focusLeft(id)}
    >
      <header class="card-head">
        <h3 class="card-title" title={props.fullTitle ?? title}>
          {middle(title, 48)}
        </h3>
        <span class="card-subtitle" {...(typeof props.subtitle === 'string' ? { title: props.subtitle } : {})}>
          {props.subtitle}
        </span>
        <span class="card-controls" role="toolbar" aria-label={`Controls of ${title}`}>
          {props.controls}
          {props.mayPin !== false && (
            <IconButton
              icon="pin"
              label={pinned ? 'Unpin (p)' : 'Pin to the top (p)'}
              pressed={pinned}
              onClick={() => togglePin(id)}
            />
          )}
          <IconButton
            icon={full ? 'close' : 'full'}
            label={full ? 'Leave full screen (f)' : 'Full screen (f)'}
            pressed={full}
            onClick={() => toggleFull(id)}
          />
        </span>
      </header>
      <div class="card-body">{props.children}</div>
    </section>
  );
}
