import { useState } from 'preact/hooks';

import { axis } from '../state';
import { MenuItem } from '../ui/Menu';
import { integer, middle, plural } from '../ui/format';
import type { LineSpec } from './build';
import { askText, bandsCsv, bandsJson, joinedCsv, seriesUrl, stepsInView } from './download';
import { fileName, save, savePng, saveSvg } from './export';
import type { Scene } from './scene';
import * as settings from './settings';

export interface DownloadsProps {
  title: string;
  lines: readonly LineSpec[];
  shown: () => { scene: Scene; width: number; height: number } | null; // as it is drawn now
  close: () => void;
}

const kListed = 30;

// Downloads what the chart shows: when zoomed in, only the visible part.
export function Downloads({ title, lines, shown, close }: DownloadsProps) {
  const [state, setState] = useState<{ text: string; failed: boolean } | null>(null);
  const range = settings.xRange.value;
  const means = settings.showMean.value;
  const picture = (take: typeof savePng) => {
    const now = shown();
    if (now) take({ ...now, title });
    close();
  };
  const seriesOf = (line: LineSpec) => {
    const drawn = shown()?.scene.lines.find((one) => one.id === line.id);
    return { run: line.run, tag: line.tag, steps: stepsInView(axis.peek(), settings.xRange.peek(), drawn) };
  };
  const bands = (format: 'csv' | 'json') => {
    const made = (format === 'csv' ? bandsCsv : bandsJson)(shown()?.scene.bands ?? [], axis.peek(), settings.xRange.peek());
    save(new Blob([made], { type: format === 'csv' ? 'text/csv' : 'application/json' }), fileName(`${title}-mean`, format));
    close();
  };
  const all = async () => {
    const said = (done: number) => setState({ text: `${integer(done)} of ${plural(lines.length, 'series', 'series')}…`, failed: false });
    try {
      const parts = await joinedCsv(lines.map(seriesOf), askText, said);
      save(new Blob(parts, { type: 'text/csv' }), fileName(title, 'csv'));
      setState(null);
    } catch (error) {
      setState({ text: error instanceof Error ? error.message : String(error), failed: true });
    }
  };
  return (
    <>
      <h4 class="section-title menu-title">{range ? 'Download what is in view' : 'Download'}</h4>
      <MenuItem onClick={() => picture(savePng)}>Picture, PNG</MenuItem>
      <MenuItem onClick={() => picture(saveSvg)}>Picture, SVG</MenuItem>
      {means && (
        <>
          <MenuItem onClick={() => bands('csv')}>Means and spreads, CSV</MenuItem>
          <MenuItem onClick={() => bands('json')}>Means and spreads, JSON</MenuItem>
        </>
      )}
      {lines.length > 1 && (
        <MenuItem disabled={state !== null && !state.failed} onClick={() => void all()}>
          All {integer(lines.length)} lines, one CSV
        </MenuItem>
      )}
      {state && (
        <p class={`menu-row ${state.failed ? 'bad' : 'muted'}`} role="status">
          {state.text}
        </p>
      )}
      {lines.slice(0, kListed).map((line) => (
        <div key={line.id} class="menu-row">
          <span class="name spring" title={line.label}>
            {middle(line.label, 26)}
          </span>
          {(['csv', 'json'] as const).map((format) => (
            <a
              key={format}
              href={seriesUrl(seriesOf(line), format)}
              // The visible range may have changed since the menu was opened.
              onClick={(event) => (event.currentTarget.href = seriesUrl(seriesOf(line), format))}
              download={fileName(`${line.run}-${line.tag}`, format)}
              aria-label={`${line.label} as ${format.toUpperCase()}`}
            >
              {format.toUpperCase()}
            </a>
          ))}
        </div>
      ))}
      {lines.length > kListed && <p class="menu-row muted">{integer(lines.length - kListed)} more: in the one CSV</p>}
    </>
  );
}
