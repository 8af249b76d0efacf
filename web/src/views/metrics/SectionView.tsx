import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';

import { Icon } from '../../ui/icons';
import { integer } from '../../ui/format';
import { useVisible } from '../../ui/hooks';
import { folded, toggleFolded } from './state';

// A section under a heading that folds it.
export function SectionView(props: {
  id: string;
  title: string;
  count: number;
  level?: 2 | 3;
  initiallyClosed?: boolean;
  children: () => ComponentChildren;
}) {
  // The list holds the sections whose state differs from the initial one.
  const open = folded.value.includes(props.id) === (props.initiallyClosed ?? false);
  const Heading = props.level === 3 ? 'h3' : 'h2';
  return (
    <section class="metric-section" aria-label={props.title}>
      <Heading class="metric-heading">
        <button type="button" aria-expanded={open} onClick={() => toggleFolded(props.id)}>
          <Icon name={open ? 'down' : 'right'} />
          {props.title}
          <span class="count">{integer(props.count)}</span>
        </button>
      </Heading>
      {open && props.children()}
    </section>
  );
}

const kAtOnce = 200;

// Loads very many cards in portions, during scrolling.
export function Portions<Item>({ items, card }: { items: readonly Item[]; card: (item: Item) => ComponentChildren }) {
  const [most, setMost] = useState(kAtOnce);
  return (
    <>
      <div class="card-grid">{items.slice(0, most).map(card)}</div>
      {items.length > most && <More key={most} onSeen={() => setMost(most + kAtOnce)} />}
    </>
  );
}

function More({ onSeen }: { onSeen: () => void }) {
  const mark = useRef<HTMLDivElement>(null);
  const near = useVisible(mark);
  useEffect(() => {
    if (near) onSeen();
  }, [near]);
  return <div ref={mark} class="more-mark" />;
}
