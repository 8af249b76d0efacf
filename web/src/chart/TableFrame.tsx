import type { ComponentChildren } from 'preact';

import { num } from '../api';
import type { Num } from '../api_types';
import { badClass, value } from '../ui/format';
import { selectRange } from './settings';
import type { Values } from './values';

export function Cell({ of }: { of: Num | null | undefined }) {
  if (of === null || of === undefined) return <td class="num" />;
  const x = num(of);
  return <td class={`num ${badClass(x)}`}>{value(x)}</td>;
}

export interface TableFrameProps {
  title: string;
  values: Values;
  columns: readonly string[];
  children: ComponentChildren;
}

// The common part of all value tables: their step or range, and the names of the columns.
export function TableFrame({ title, values, columns, children }: TableFrameProps) {
  const { what, range, error } = values;
  return (
    <div class="value-table" role="region" aria-label={`Values of ${title}, ${what}`} tabIndex={0}>
      <table>
        <caption>
          {what}
          {range && (
            <button type="button" class="link-button" onClick={() => selectRange(null)}>
              clear
            </button>
          )}
          {error && <span class="bad"> {error}</span>}
        </caption>
        <thead>
          <tr>
            {columns.map((name) => (
              <th scope="col" key={name}>
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
    </div>
  );
}
