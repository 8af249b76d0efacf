import type { ComponentChildren } from 'preact';
import { useRef, useState } from 'preact/hooks';

import { scalarsUrl } from '../api';
import { kMostDrawn, smooth } from '../state';
import { Card } from '../ui/Card';
import { Menu, MenuCheck, MenuItem } from '../ui/Menu';
import { fullCard } from '../ui/cards';
import { integer, middle, plural } from '../ui/format';
import { useVisible } from '../ui/hooks';
import { Chart, type ChartProps } from './Chart';
import { GroupTable } from './GroupTable';
import { RangeField } from './RangeField';
import { ValueTable } from './ValueTable';
import { fileName, savePng, saveSvg } from './export';
import { useLines, wantedRuns } from './lines';
import * as settings from './settings';

export interface MetricCardProps {
  id: string;
  title: string;
  fullTitle?: string;
  tags: string[];
  margins?: readonly { value: string; lower: string; upper: string }[];
  large?: boolean;
  mayPin?: boolean;
  more?: (close: () => void) => ComponentChildren; // further items of its menu
}

type SceneRef = NonNullable<ChartProps['sceneRef']>;

function CardMenu(props: MetricCardProps & { lines: { run: string; tag: string; label: string }[]; scene: SceneRef }) {
  const { id, title, lines } = props;
  const own = settings.cardOptions.value[id];
  const [lo, hi] = own?.y ?? [null, null];
  const picture = (save: typeof savePng) => {
    const shown = props.scene.current?.();
    if (shown) save({ ...shown, title: props.fullTitle ?? title });
  };
  return (
    <Menu label={`More about ${title}`} icon="more">
      {(close) => (
        <>
          <MenuCheck
            label="Logarithmic y"
            checked={own?.logY ?? settings.logY.value}
            onChange={(logY) => settings.setCardOptions(id, { logY })}
          />
          <div class="menu-row">
            <span class="muted">y from</span>
            <RangeField label="y from" placeholder="fitted" value={lo} onChange={(y) => settings.setCardOptions(id, { y: [y, hi] })} />
            <span class="muted">to</span>
            <RangeField label="y to" placeholder="fitted" value={hi} onChange={(y) => settings.setCardOptions(id, { y: [lo, y] })} />
          </div>
          <MenuItem
            onClick={() => {
              settings.resetZoom();
              settings.setCardOptions(id, { y: [null, null] });
              close();
            }}
          >
            Show everything (double click)
          </MenuItem>
          {props.more?.(close)}
          <h4 class="section-title menu-title">Download</h4>
          <MenuItem onClick={() => (picture(savePng), close())}>Picture, PNG</MenuItem>
          <MenuItem onClick={() => (picture(saveSvg), close())}>Picture, SVG</MenuItem>
          {lines.slice(0, 30).map((line) => (
            <div key={line.label} class="menu-row">
              <span class="name spring" title={line.label}>
                {middle(line.label, 26)}
              </span>
              {(['csv', 'json'] as const).map((format) => (
                <a
                  key={format}
                  href={scalarsUrl({ run: line.run, tag: line.tag }, format)}
                  download={fileName(`${line.run}-${line.tag}`, format)}
                  aria-label={`${line.label} as ${format.toUpperCase()}`}
                >
                  {format.toUpperCase()}
                </a>
              ))}
            </div>
          ))}
        </>
      )}
    </Menu>
  );
}

const kNamed = 12;

// Which line is which, where there is room to say it.
function Legend({ lines }: { lines: readonly { label: string; color: string }[] }) {
  return (
    <ul class="legend" aria-label="Lines">
      {lines.slice(0, kNamed).map((line) => (
        <li key={line.label} title={line.label}>
          <span class="swatch" style={{ background: line.color }} />
          {middle(line.label, 28)}
        </li>
      ))}
      {lines.length > kNamed && <li class="muted">and {integer(lines.length - kNamed)} more</li>}
    </ul>
  );
}

function Drawn(props: MetricCardProps) {
  const shown = useLines(props.tags);
  const { lines, groups } = shown;
  const [points, setPoints] = useState<number | null>(null);
  const scene: SceneRef = useRef(null);
  const runs = new Set(groups.length > 0 ? groups.flatMap((group) => group.runs) : lines.map((line) => line.run)).size;
  const wanted = wantedRuns(props.tags);
  const some = runs < wanted ? `${integer(runs)} of ${integer(wanted)} runs drawn: filter to see others` : plural(runs, 'run');
  const smoothing = smooth.value > 0 ? ' · smoothed in view' : '';
  const what =
    groups.length > 0 ? `mean ± spread · ${plural(groups.length, 'group')} of ${some}${smoothing}` : some;
  const table = settings.showTable.value && lines.length + groups.length > 0;
  return (
    <Card
      id={props.id}
      title={props.title}
      fullTitle={props.fullTitle ?? props.title}
      mayPin={props.mayPin ?? true}
      class={`metric-card ${props.large ? 'metric-large' : ''} ${table ? 'with-table' : ''}`}
      subtitle={points === null || lines.length + groups.length === 0 ? what : `${what} · ${plural(points, 'point')}`}
      controls={<CardMenu {...props} lines={lines} scene={scene} />}
    >
      {lines.length + groups.length === 0 ? (
        <div class="chart-note muted">
          {wanted > 0
            ? `${plural(wanted, 'run')} with this not drawn, since charts draw ${kMostDrawn}: filter the list of runs.`
            : 'No visible run has this: show one in the list of runs.'}
        </div>
      ) : (
        <Chart
          id={props.id}
          name={props.tags.length === 1 ? (props.tags[0] ?? props.title) : props.title}
          shown={shown}
          margins={props.margins ?? kNone}
          onPoints={setPoints}
          sceneRef={scene}
        />
      )}
      {(props.large || fullCard.value === props.id) && <Legend lines={groups.length > 0 ? groups : lines} />}
      {table && (groups.length > 0 ? <GroupTable title={props.title} groups={groups} /> : <ValueTable title={props.title} lines={lines} />)}
    </Card>
  );
}
const kNone: NonNullable<MetricCardProps['margins']> = [];

// A card is drawn when it comes near the screen, and gives everything back when it leaves. Its place stays the same.
export function MetricCard(props: MetricCardProps) {
  const root = useRef<HTMLDivElement>(null);
  const near = useVisible(root);
  const table = settings.showTable.value;
  return (
    <div
      ref={root}
      class={`card-place ${props.large ? 'place-large' : ''} ${table ? 'with-table' : ''}`}
      data-place={props.id}
    >
      {(near || fullCard.value === props.id) && <Drawn {...props} />}
    </div>
  );
}
