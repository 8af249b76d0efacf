import { useEffect, useRef, useState } from 'preact/hooks';

import { shortened } from '../../chart/lines';
import { scalarTags } from '../../headline';
import { compile } from '../../pattern';
import { allStatLines, isStatLine } from '../../stat_lines';
import { plural } from '../../ui/format';
import { ownCharts } from './state';

const kMost = 200;

// Several tags in one chart.
export function NewChart({ first, onClose }: { first: string[]; onClose: () => void }) {
  const dialog = useRef<HTMLDialogElement>(null);
  const [filter, setFilter] = useState('');
  const [title, setTitle] = useState('');
  const [chosen, setChosen] = useState<string[]>(first);
  useEffect(() => dialog.current?.showModal(), []);
  const pattern = compile(filter);
  const all = [...scalarTags.value.map((tag) => tag.tag), ...(isStatLine(filter) ? allStatLines() : [])];
  const found = all.filter((tag) => pattern.test(tag));
  const make = () => {
    ownCharts.value = [...ownCharts.peek(), { title: title.trim() || shortened(chosen).join(', '), tags: chosen }];
    dialog.current?.close();
  };
  const toggle = (tag: string, on: boolean) => setChosen(on ? [...chosen, tag] : chosen.filter((one) => one !== tag));
  return (
    <dialog ref={dialog} class="dialog" aria-label="New chart" onClose={onClose}>
      <h2>New chart</h2>
      <div class="new-chart">
        <input
          type="text"
          placeholder="title"
          aria-label="Title"
          value={title}
          onInput={(event) => setTitle(event.currentTarget.value)}
        />
        <input
          type="search"
          placeholder="filter tags; stat:rms:... for statistics of tensors"
          aria-label="Filter tags of the new chart"
          value={filter}
          onInput={(event) => setFilter(event.currentTarget.value)}
        />
        <ul class="tag-choice">
          {found.slice(0, kMost).map((tag) => (
            <li key={tag}>
              <label class="menu-item">
                <input
                  type="checkbox"
                  checked={chosen.includes(tag)}
                  onChange={(event) => toggle(tag, event.currentTarget.checked)}
                />
                {tag}
              </label>
            </li>
          ))}
        </ul>
        <p class="muted">
          {found.length > kMost ? `The first ${kMost} of ${plural(found.length, 'tag')}. ` : ''}
          {plural(chosen.length, 'tag')} chosen
        </p>
      </div>
      <div class="dialog-actions">
        <button type="button" class="text-button" onClick={() => dialog.current?.close()}>
          Cancel
        </button>
        <button type="button" class="text-button primary" disabled={chosen.length === 0} onClick={make}>
          Make the chart
        </button>
      </div>
    </dialog>
  );
}
