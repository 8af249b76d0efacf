// The placeholder of a card: cards far from the screen have no elements, so a thousand tags cost as little as ten.
import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';

import { isHeld } from './cards';
import { useVisible } from './hooks';

export interface LazyCardProps {
  id: string; // of the card
  tag: string;
  class?: string;
  height: number; // CSS pixels, until it is measured
  width?: number; // CSS pixels, if the layout does not set it
  children: ComponentChildren;
}

export function LazyCard(props: LazyCardProps) {
  const place = useRef<HTMLDivElement>(null);
  const seen = useRef<{ width: number; height: number } | null>(null);
  const near = useVisible(place) || isHeld(props.id); // a full-screen card is not at its place
  // The placeholder keeps the size of the card, so that nothing moves.
  useLayoutEffect(() => {
    const element = place.current;
    if (!element || !near) return;
    return () => {
      if (element.offsetHeight > 0) seen.current = { width: element.offsetWidth, height: element.offsetHeight };
    };
  }, [near]);
  const height = seen.current?.height ?? props.height;
  const width = props.width && (seen.current?.width ?? props.width);
  const style = near ? {} : { height: `${height}px`, ...(width ? { width: `${width}px` } : {}) };
  const empty = near ? {} : { 'data-chart': props.tag };
  return (
    <div ref={place} class={`lazy-card ${props.class ?? ''}`} style={style} {...empty}>
      {near && props.children}
    </div>
  );
}
