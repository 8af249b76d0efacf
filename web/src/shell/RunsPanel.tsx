import { deepest, hparamNames } from '../groups';
import { everything } from '../selection';
import {
  chosenRuns,
  kMostDrawn,
  ownColors,
  runByName,
  runFilter,
  runPattern,
  runs,
  selection,
  status,
} from '../state';
import { IconButton } from '../ui/IconButton';
import { Menu, MenuItem } from '../ui/Menu';
import { VirtualList } from '../ui/VirtualList';
import { integer, plural } from '../ui/format';
import { AtStep } from './AtStep';
import { FolderRow } from './FolderRow';
import { RunRow } from './RunRow';
import { drawer } from './keys';
import { type Sort, groupBy, orderedRuns, rows, sort } from './order';

const kSorts: [Sort, string][] = [
  ['name', 'by name'],
  ['newest', 'newest first'],
  ['step', 'by last step'],
  ['state', 'by state'],
];

function ListMenu() {
  return (
    <Menu label="Order and groups of runs" icon="gear">
      {(close) => (
        <>
          <label class="menu-row">
            <span class="muted">Order</span>
            <select value={sort.value} onChange={(event) => (sort.value = event.currentTarget.value as Sort)}>
              {kSorts.map(([value, label]) => (
                <option key={value} value={value}>
                  {label}
                </option>
              ))}
            </select>
          </label>
          <label class="menu-row">
            <span class="muted">Group</span>
            <select value={groupBy.value} onChange={(event) => (groupBy.value = event.currentTarget.value)}>
              <option value="tree">as folders</option>
              <option value="none">not at all</option>
              {Array.from({ length: deepest(runs.value) }, (_, i) => (
                <option key={i} value={`path:${i + 1}`}>
                  by path, {plural(i + 1, 'part')}
                </option>
              ))}
              {hparamNames(runs.value).map((name) => (
                <option key={name} value={`hparam:${name}`}>
                  by {name}
                </option>
              ))}
            </select>
          </label>
          <MenuItem
            onClick={() => {
              selection.value = everything;
              close();
            }}
          >
            Show all runs
          </MenuItem>
          <MenuItem
            disabled={Object.keys(ownColors.value).length === 0}
            onClick={() => {
              ownColors.value = {};
              close();
            }}
          >
            Forget chosen colours
          </MenuItem>
        </>
      )}
    </Menu>
  );
}

// Losses and read errors, in one line.
function Health() {
  const all = runs.value;
  const damaged = all.reduce((sum, run) => sum + run.damaged, 0);
  const dropped = all.reduce((sum, run) => sum + run.dropped, 0);
  const points = all.reduce((sum, run) => sum + run.points, 0);
  const progress = status.value?.progress;
  const reading = progress && progress.runs_read < progress.runs_found;
  const problems = status.value?.logs.flatMap((log) => log.problems) ?? [];
  return (
    <section class="panel-section health" aria-label="Damage">
      <h2 class="section-title">Damage</h2>
      <p class={damaged > 0 || problems.length > 0 ? 'bad' : 'muted'}>
        {damaged > 0 ? plural(damaged, 'damaged place') : problems.length > 0 ? '' : 'none'}
        {problems.map((problem) => (
          <span key={problem}>{problem}</span>
        ))}
      </p>
      <p class="muted">
        {plural(points, 'point')} · <span class={dropped > 0 ? 'bad' : ''}>{integer(dropped)} dropped</span>
      </p>
      {reading && (
        <p class="muted" role="status">
          reading {integer(progress.runs_read)} of {plural(progress.runs_found, 'run')}
        </p>
      )}
    </section>
  );
}

// A link may name runs that do not exist (any more).
function Missing() {
  const { only, names } = selection.value;
  if (!only || runs.value.length === 0) return null;
  const missing = [...names].filter((name) => !runByName.value.has(name));
  if (missing.length === 0) return null;
  return (
    <p class="panel-note bad" role="alert">
      The link shows {plural(missing.length, 'run')} that {missing.length === 1 ? 'is' : 'are'} not here:{' '}
      {missing.slice(0, 3).join(', ')}.{' '}
      <button type="button" class="link-button" onClick={() => (selection.value = everything)}>
        Show all runs
      </button>
    </p>
  );
}

export function RunsPanel() {
  const all = runs.value.length;
  const found = orderedRuns.value.length;
  const error = runPattern.value.error;
  const group = groupBy.value;
  const title =
    group === 'tree' || group.startsWith('path:') ? 'grouped by path' : group === 'none' ? '' : `by ${group.slice(7)}`;
  return (
    <aside class="panel" aria-label="Runs">
      <div class="panel-filter">
        <input
          id="run-filter"
          type="search"
          placeholder="filter runs: name, lr>0.01"
          aria-label="Filter runs by a regular expression"
          aria-invalid={error !== null}
          title={error ? `Taken as plain text: ${error}.` : 'A regular expression (RE2 syntax), and conditions on hyper-parameters: lr>=0.001 optimizer=adam'}
          value={runFilter.value}
          onInput={(event) => (runFilter.value = event.currentTarget.value)}
        />
        <ListMenu />
        <IconButton class="drawer-button" icon="close" label="Close" onClick={() => (drawer.value = false)} />
      </div>
      <h2 class="section-title panel-title">
        Runs{title && ` · ${title}`}
        <span class="panel-count" data-found={found}>
          {found === all ? integer(all) : `${integer(found)} of ${integer(all)}`}
        </span>
      </h2>
      {error && <p class="panel-note bad">Taken as plain text: {error}.</p>}
      {chosenRuns.value.length > kMostDrawn && (
        <p class="panel-note muted">Charts draw the first {kMostDrawn} of {integer(chosenRuns.value.length)}: filter, or show only some.</p>
      )}
      {all > 0 && found === 0 && (
        <p class="panel-note muted">
          No run matches.{' '}
          <button type="button" class="link-button" onClick={() => (runFilter.value = '')}>
            Show all
          </button>
        </p>
      )}
      <Missing />
      <div class="panel-list">
        <VirtualList
          items={rows.value}
          rowHeight={26}
          label="Runs"
          keyOf={(row) => row.id}
          row={(row) =>
            row.type === 'run' ? <RunRow run={row.run} label={row.label} depth={row.depth} /> : <FolderRow row={row} />
          }
        />
      </div>
      <AtStep />
      <Health />
    </aside>
  );
}
