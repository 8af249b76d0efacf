import type { ComponentChildren } from 'preact';
import { useRef, useState } from 'preact/hooks';

import { useSize } from './hooks';

export interface VirtualListProps<Item> {
  items: readonly Item[];
  rowHeight: number; // CSS pixels, the same for all
  label: string;
  role?: 'list' | 'tree';
  row: (item: Item, index: number) => ComponentChildren; // one element with a key; placed by the list
  keyOf: (item: Item) => string;
}

const kOverscan = 6; // rows beyond both ends

// Renders only the visible rows: ten thousand rows cost as much as fifty.
export function VirtualList<Item>(props: VirtualListProps<Item>) {
  const root = useRef<HTMLDivElement>(null);
  const { height } = useSize(root);
  const [top, setTop] = useState(0);
  const total = props.items.length * props.rowHeight;
  const at = Math.min(top, Math.max(0, total - height));
  const first = Math.max(0, Math.floor(at / props.rowHeight) - kOverscan);
  const last = Math.min(props.items.length, Math.ceil((at + height) / props.rowHeight) + kOverscan);
  const itemRole = props.role === 'tree' ? 'treeitem' : 'listitem';
  return (
    <div class="virtual" ref={root} onScroll={(event) => setTop(event.currentTarget.scrollTop)}>
      <div class="virtual-space" role={props.role ?? 'list'} aria-label={props.label} style={{ height: `${total}px` }}>
        {props.items.slice(first, last).map((item, i) => (
          <div
            key={props.keyOf(item)}
            class="virtual-row"
            role={itemRole}
            aria-setsize={props.items.length}
            aria-posinset={first + i + 1}
            style={{ height: `${props.rowHeight}px`, transform: `translateY(${(first + i) * props.rowHeight}px)` }}
          >
            {props.row(item, first + i)}
          </div>
        ))}
      </div>
    </div>
  );
}
