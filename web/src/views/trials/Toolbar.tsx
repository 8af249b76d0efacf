import { fileName, save } from '../../chart/export';
import { solo } from '../../selection';
import { kMostDrawn, selection } from '../../state';
import { Choice } from '../../ui/Choice';
import { integer, middle } from '../../ui/format';
import { Menu, MenuCheck, MenuItem } from '../../ui/Menu';
import { ColumnSelect } from './ColumnSelect';
import { nameOf } from './columns';
import { csvOf, jsonOf, latexOf } from './download';
import { brushes, chosenAxes, colourBy, stat } from './settings';
import type { Trials } from './useTrials';

const kMostListed = 200; // more are in the metrics view

export function Toolbar({ trials }: { trials: Trials }) {
  const any = Object.keys(brushes.value).length > 0;
  const show = (): void => {
    selection.value = solo(trials.names.filter((_, i) => trials.kept[i]));
  };
  return (
    <div class="trials-toolbar" role="toolbar" aria-label="How trials are shown">
      <Menu label="Axes" text={`Axes: ${integer(trials.axes.length)}`} align="left">
        {() => <AxesMenu trials={trials} />}
      </Menu>
      <Choice
        label="Value of a metric"
        value={stat.value}
        onChange={(next) => (stat.value = next)}
        options={[
          { value: 'last', label: 'Last', title: 'The last value of each metric' },
          { value: 'best', label: 'Best', title: 'The smallest loss, the largest accuracy; the last value if it is not known which is better' },
        ]}
      />
      <label class="trials-label">
        <span class="muted">Colour</span>
        <ColumnSelect label="Colour by" options={trials.options} value={trials.colour?.column.id ?? ''} onChange={(id) => (colourBy.value = id)} />
      </label>
      <Menu label="Download the trials that are kept" text="Download" align="left">
        {(close) => <Downloads trials={trials} close={close} />}
      </Menu>
      {any && (
        <>
          <button type="button" class="text-button" onClick={() => (brushes.value = {})}>
            Keep all
          </button>
          <button
            type="button"
            class="text-button"
            disabled={trials.keptCount === 0 || trials.keptCount > kMostDrawn}
            title={trials.keptCount > kMostDrawn ? `At most ${integer(kMostDrawn)} runs are drawn at once` : 'Hide all other runs in all views'}
            onClick={show}
          >
            Show only these {integer(trials.keptCount)} runs
          </button>
        </>
      )}
      {trials.loading && (
        <span class="muted" role="status">
          reading metrics…
        </span>
      )}
      {trials.error && (
        <span class="bad" role="alert">
          {trials.error}
        </span>
      )}
    </div>
  );
}

function AxesMenu({ trials }: { trials: Trials }) {
  const shown = trials.axes.map((axis) => axis.column.id);
  const toggle = (id: string, on: boolean): void => {
    const next = on ? [...shown, id] : shown.filter((one) => one !== id);
    if (next.length > 0) chosenAxes.value = next;
  };
  const check = (id: string) => <MenuCheck key={id} label={middle(nameOf(id), 36)} checked={shown.includes(id)} onChange={(on) => toggle(id, on)} />;
  return (
    <>
      <div class="menu-title section-title">Hyper-parameters</div>
      {trials.options.hparams.slice(0, kMostListed).map(check)}
      <div class="menu-title section-title">Metrics</div>
      {trials.options.metrics.slice(0, kMostListed).map(check)}
      {chosenAxes.value.length > 0 && <MenuItem onClick={() => (chosenAxes.value = [])}>As suggested</MenuItem>}
    </>
  );
}

function Downloads({ trials, close }: { trials: Trials; close: () => void }) {
  const get = (ending: string, type: string, text: typeof csvOf) => () => {
    const columns = trials.axes.map((axis) => axis.column);
    const rows = [...trials.order].filter((row) => trials.kept[row]);
    save(new Blob([text(trials.names, columns, rows)], { type }), fileName('trials', ending));
    close();
  };
  return (
    <>
      <MenuItem onClick={get('csv', 'text/csv', csvOf)}>CSV</MenuItem>
      <MenuItem onClick={get('json', 'application/json', jsonOf)}>JSON</MenuItem>
      <MenuItem onClick={get('tex', 'application/x-tex', latexOf)}>LaTeX</MenuItem>
    </>
  );
}
