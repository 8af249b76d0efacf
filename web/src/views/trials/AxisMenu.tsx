// The name of an axis and its menu, which also works without a pointer.
import { middle } from '../../ui/format';
import { Choice } from '../../ui/Choice';
import { Field } from '../../ui/Field';
import { Menu, MenuCheck, MenuItem } from '../../ui/Menu';
import { type Axis, type Brush, type ScaleName, without } from './axes';
import { brushes, chosenAxes, colourBy, scales } from './settings';

export function AxisMenu({ axes, at, x }: { axes: readonly Axis[]; at: number; x: number }) {
  const axis = axes[at]!;
  const { id, name } = axis.column;
  const ids = axes.map((one) => one.column.id);
  const put = (place: number): void => {
    const others = ids.filter((one) => one !== id);
    chosenAxes.value = [...others.slice(0, place), id, ...others.slice(place)];
  };
  const act = (close: () => void, what: () => void) => () => {
    close();
    what();
  };
  return (
    <div class={`trials-axis ${brushes.value[id] ? 'trials-brushed' : ''}`} style={{ left: `${x}px` }}>
      <Menu label={`Axis ${name}`} text={middle(name, 14)} align={at > axes.length / 2 ? 'right' : 'left'}>
        {(close) => (
          <>
            <div class="menu-title muted">{name}</div>
            {axis.categories ? <Categories axis={axis} /> : <Numbers axis={axis} />}
            {brushes.value[id] && <MenuItem onClick={act(close, () => (brushes.value = without(brushes.peek(), id)))}>Keep all values</MenuItem>}
            <MenuItem onClick={act(close, () => (colourBy.value = id))}>Colour by this</MenuItem>
            <MenuItem disabled={at === 0} onClick={act(close, () => put(at - 1))}>
              Move left
            </MenuItem>
            <MenuItem disabled={at === axes.length - 1} onClick={act(close, () => put(at + 1))}>
              Move right
            </MenuItem>
            <MenuItem disabled={axes.length < 2} onClick={act(close, () => (chosenAxes.value = ids.filter((one) => one !== id)))}>
              Remove
            </MenuItem>
          </>
        )}
      </Menu>
    </div>
  );
}

function Numbers({ axis }: { axis: Axis }) {
  const { id, name } = axis.column;
  const brush = brushes.value[id];
  const [from, to] = brush && typeof brush[0] === 'number' ? (brush as readonly [number, number]) : [null, null];
  const set = (end: 0 | 1, text: string): void => {
    const written = text.trim() === '' ? null : Number(text);
    if (written !== null && !Number.isFinite(written)) return;
    const next: [number | null, number | null] = [from, to];
    next[end] = written;
    const others = without(brushes.peek(), id);
    if (next[0] === null && next[1] === null) return void (brushes.value = others);
    const range = [next[0] ?? -Number.MAX_VALUE, next[1] ?? Number.MAX_VALUE] as const;
    brushes.value = { ...others, [id]: range[0] <= range[1] ? range : ([range[1], range[0]] as const) };
  };
  const shown = (end: number | null): string => (end === null || Math.abs(end) === Number.MAX_VALUE ? '' : String(end));
  return (
    <>
      <div class="menu-row">
        <Choice<ScaleName>
          label={`Scale of ${name}`}
          value={axis.log ? 'log' : 'linear'}
          onChange={(next) => (scales.value = { ...scales.peek(), [id]: next })}
          options={[
            { value: 'linear', label: 'Linear' },
            { value: 'log', label: 'Log' },
          ]}
        />
      </div>
      <div class="menu-row trials-range">
        <Field label={`Smallest ${name}`} placeholder="from" inputMode="decimal" value={shown(from)} onCommit={(text) => set(0, text)} />
        <Field label={`Largest ${name}`} placeholder="to" inputMode="decimal" value={shown(to)} onCommit={(text) => set(1, text)} />
      </div>
    </>
  );
}

function Categories({ axis }: { axis: Axis }) {
  const { id } = axis.column;
  const all = axis.categories ?? [];
  const chosen = (brushes.value[id] as readonly string[] | undefined) ?? all;
  const toggle = (name: string, on: boolean): void => {
    const next: Brush = all.filter((one) => (one === name ? on : chosen.includes(one)));
    const others = without(brushes.peek(), id);
    brushes.value = next.length === all.length ? others : { ...others, [id]: next };
  };
  return (
    <>
      {all.slice(0, 100).map((name) => (
        <MenuCheck key={name} label={middle(name, 32)} checked={chosen.includes(name)} onChange={(on) => toggle(name, on)} />
      ))}
    </>
  );
}
