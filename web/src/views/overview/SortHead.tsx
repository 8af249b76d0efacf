import type { ComponentChildren } from 'preact';

import { text, urlSignal } from '../../url';

// As in sorting.ts; empty: the order of the list of runs.
export const sortBy = urlSignal('runsort', '', text);

// A heading that sorts: ascending, descending, or not at all.
export function SortHead(props: { id: string; name: string; number?: boolean; title?: string; children?: ComponentChildren }) {
  const { id, name } = props;
  const up = sortBy.value === id;
  const down = sortBy.value === `-${id}`;
  return (
    <th scope="col" class={props.number ? 'num' : ''} aria-sort={up ? 'ascending' : down ? 'descending' : 'none'}>
      <button
        type="button"
        title={`${props.title ?? name}\nSort by this column`}
        onClick={() => (sortBy.value = up ? `-${id}` : down ? '' : id)}
      >
        {name} {props.children}
        <span aria-hidden="true">{up ? '▲' : down ? '▼' : ''}</span>
      </button>
    </th>
  );
}
