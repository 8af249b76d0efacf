import type { ComponentChildren } from 'preact';
import { useRef, useState } from 'preact/hooks';

import { kMostDrawn } from '../state';
import { Card } from '../ui/Card';
import { Menu, MenuCheck, MenuItem } from '../ui/Menu';
import { fullCard, isHeld } from '../ui/cards';
import { integer, plural, value } from '../ui/format';
import { useVisible } from '../ui/hooks';
import { Chart, type ChartProps } from './Chart';
import { Downloads } from './Downloads';
import { GroupTable } from './GroupTable';
import { Legend } from './Legend';
import { RangeField } from './RangeField';
import { ValueTable } from './ValueTable';
import { type GroupSpec, type LineSpec, bandId } from './build';
import { replacedPoints, useLines, wantedRuns } from './lines';
import type { BandShape, Scene } from './scene';
import * as settings from './settings';
import { smoothOf } from './smoothing';

export interface MetricCardProps {
  id: string;
  title: string;
  fullTitle?: string;
  tags: string[];
  margins?: readonly { value: string; lower: string; upper: string }[];
  large?: boolean;
  mayPin?: boolean;
  more?: (close: () => void) => ComponentChildren; // additional items of its menu
}

type SceneRef = NonNullable<ChartProps['sceneRef']>;

function CardMenu(props: MetricCardProps & { lines: readonly LineSpec[]; scene: SceneRef }) {
  const { id, title, lines } = props;
  const own = settings.cardOptions.value[id];
  const [lo, hi] = own?.y ?? [null, null];
  return (
    <Menu label={`More about ${title}`} icon="more">
      {(close) => (
        <>
          <MenuCheck
            label="Logarithmic y"
            checked={own?.logY ?? settings.logY.value}
            onChange={(logY) => settings.setCardOptions(id, { logY })}
          />
          <MenuCheck
            label="Clip outliers"
            checked={own?.clip ?? settings.clip.value}
            onChange={(clip) => settings.setCardOptions(id, { clip })}
          />
          <MenuCheck
            label="Wide"
            checked={own?.wide ?? false}
            onChange={(wide) => settings.setCardOptions(id, { wide })}
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
          <Downloads
            title={props.fullTitle ?? title}
            lines={lines}
            shown={() => props.scene.current?.() ?? null}
            close={close}
          />
        </>
      )}
    </Menu>
  );
}

// A run that became NaN leaves the mean: the reader has to know.
function goneText(group: GroupSpec, bands: readonly BandShape[]): string {
  const gone = bands.find((band) => band.id === bandId(group))?.gone;
  if (!gone) return '';
  return `${integer(group.runs.length - gone.runs)} of ${plural(group.runs.length, 'run')} from step ${integer(gone.step)}: NaN or Inf`;
}

function clippedText({ clipped: [least, most] }: Scene): string {
  const beyond = [least === null ? '' : `down to ${value(least)}`, most === null ? '' : `up to ${value(most)}`].filter(Boolean);
  return beyond.length === 0 ? '' : `outliers ${beyond.join(' and ')} are clipped`;
}

function Drawn(props: MetricCardProps) {
  const shown = useLines(props.tags);
  const { lines, groups } = shown;
  const [drawn, setDrawn] = useState<{ points: number; clipped: string; gone: readonly string[] } | null>(null);
  const onDrawn = (points: number, scene: Scene) =>
    setDrawn((old) => {
      const now = { points, clipped: clippedText(scene), gone: groups.map((group) => goneText(group, scene.bands)) };
      return JSON.stringify(old) === JSON.stringify(now) ? old : now;
    });
  const scene: SceneRef = useRef(null);
  const runs = new Set(groups.length > 0 ? groups.flatMap((group) => group.runs) : lines.map((line) => line.run)).size;
  const wanted = wantedRuns(props.tags);
  const some = runs < wanted ? `${integer(runs)} of ${integer(wanted)} runs drawn: filter to see others` : plural(runs, 'run');
  const full = fullCard.value === props.id;
  const wide = settings.cardOptions.value[props.id]?.wide ?? false;
  const weight = smoothOf(props.tags, full || wide || (props.large ?? false));
  const smoothing = weight > 0 ? ' · smoothed in view' : '';
  const what =
    groups.length > 0 ? `mean ± spread · ${plural(groups.length, 'group')} of ${some}${smoothing}` : some;
  const replaced = replacedPoints(shown);
  const again = replaced > 0 ? ` · ${plural(replaced, 'older point')} replaced by a restart` : '';
  const table = settings.showTable.value && lines.length + groups.length > 0;
  return (
    <Card
      id={props.id}
      title={props.title}
      fullTitle={props.fullTitle ?? props.title}
      mayPin={props.mayPin ?? true}
      class={`metric-card ${props.large ? 'metric-large' : ''} ${table ? 'with-table' : ''}`}
      subtitle={drawn === null || lines.length + groups.length === 0 ? what : `${what} · ${plural(drawn.points, 'point')}${again}`}
      controls={<CardMenu {...props} lines={lines} scene={scene} />}
    >
      {lines.length + groups.length === 0 ? (
        <div class="chart-note muted">
          {wanted > 0
            ? `${plural(wanted, 'run')} not drawn: a chart draws at most ${kMostDrawn}. Filter the list of runs.`
            : 'No visible run has this tag. Show one in the list of runs.'}
        </div>
      ) : (
        <Chart
          id={props.id}
          name={props.tags.length === 1 ? (props.tags[0] ?? props.title) : props.title}
          shown={shown}
          margins={props.margins ?? kNone}
          weight={weight}
          onDrawn={onDrawn}
          sceneRef={scene}
        />
      )}
      {drawn?.clipped && <div class="chart-clipped muted">{drawn.clipped}</div>}
      {groups.length > 0 ? (
        <Legend rows={full ? 6 : 2} lines={groups.map((group, i) => ({ ...group, note: drawn?.gone[i] ?? '' }))} />
      ) : (
        (props.large || full) && <Legend rows={full ? 6 : 2} lines={lines} />
      )}
      {table && (groups.length > 0 ? <GroupTable title={props.title} groups={groups} weight={weight} /> : <ValueTable title={props.title} lines={lines} weight={weight} />)}
    </Card>
  );
}
const kNone: NonNullable<MetricCardProps['margins']> = [];

// A card is drawn when it comes near the screen, and freed when it leaves. Its place keeps its size.
export function MetricCard(props: MetricCardProps) {
  const root = useRef<HTMLDivElement>(null);
  const near = useVisible(root);
  const table = settings.showTable.value;
  const wide = settings.cardOptions.value[props.id]?.wide ?? false;
  return (
    <div
      ref={root}
      class={`card-place ${props.large ? 'place-large' : ''} ${wide ? 'place-wide' : ''} ${table ? 'with-table' : ''}`}
      data-place={props.id}
    >
      {(near || isHeld(props.id)) && <Drawn {...props} />}
    </div>
  );
}
