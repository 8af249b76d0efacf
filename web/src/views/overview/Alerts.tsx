import { batch } from '@preact/signals';
import { useState } from 'preact/hooks';

import type { Alert } from '../../api_types';
import { allViews } from '../../registry';
import { toggled } from '../../selection';
import { alerts, alertsLoaded, runs, selection, setCursor, tagFilter, view, visibleSet } from '../../state';
import { Icon } from '../../ui/icons';
import { ago, integer, middle, plural, time } from '../../ui/format';

const kWords: Record<Alert['kind'], string> = {
  nonfinite: 'not finite',
  trigger: 'trigger',
  died: 'died',
  dropped: 'dropped',
  budget: 'budget',
  damage: 'damage',
};

const escape = (tag: string) => tag.replace(/[\\^$.[\]|()?*+{}]/g, '\\$&');

// To the tag and the step that it is about.
function follow(alert: Alert): void {
  const kind = alert.tag_kind ?? 'scalars';
  const target = allViews().find((one) => one.kinds.includes(kind));
  batch(() => {
    if (!visibleSet.peek().has(alert.run)) selection.value = toggled(selection.peek(), [alert.run], true);
    if (alert.step !== null) setCursor(alert.step);
    if (alert.tag !== null) {
      tagFilter.value = `^${escape(alert.tag)}$`;
      if (target) view.value = target.id;
    }
  });
}

const kFew = 5;
const kLine = 36; // CSS pixels of an alert, with its gap

// The height that the alerts will have, as far as the list of runs tells: nothing shall jump when they come.
function expected(): number {
  const wrong = runs.value.filter(
    (run) => run.first_bad_step !== null || run.state === 'died' || run.damaged + run.dropped > 0,
  );
  return Math.max(20, kLine * Math.min(kFew, wrong.length));
}

interface Shown {
  alert: Alert;
  others: Alert[]; // of the same kind and run, later
}

// A NaN goes through a whole network within a step: what matters is where it was first.
export function gathered(all: readonly Alert[]): Shown[] {
  const groups = new Map<string, Alert[]>();
  for (const alert of all) {
    const key = `${alert.kind}\n${alert.run}`;
    const group = groups.get(key);
    if (group) group.push(alert);
    else groups.set(key, [alert]);
  }
  return [...groups.values()].flatMap((group) => {
    // Triggers and the like are each an event of their own.
    if (group[0]?.kind !== 'nonfinite') return group.map((alert) => ({ alert, others: [] }));
    const [alert, ...others] = [...group].sort(
      (a, b) => (a.step ?? Infinity) - (b.step ?? Infinity) || (a.time ?? 0) - (b.time ?? 0),
    );
    return alert ? [{ alert, others }] : [];
  });
}

export function Alerts() {
  const [all, setAll] = useState(false);
  const found = alerts.value;
  if (found.length === 0)
    return (
      <section
        class="alerts alerts-none"
        aria-label="Alerts"
        style={{ minHeight: alertsLoaded.value ? '' : `${expected()}px` }}
      >
        {alertsLoaded.value && (
          <p class="muted">Nothing is wrong: no NaN, no drops, no damage in {plural(runs.value.length, 'run')}.</p>
        )}
      </section>
    );
  const groups = gathered(found);
  const flat = all
    ? groups.flatMap(({ alert, others }) => [alert, ...others]).map((alert) => ({ alert, others: [] }))
    : groups.slice(0, kFew);
  return (
    <section class="alerts" aria-label="Alerts">
      <ul>
        {flat.map(({ alert, others }, i) => (
          <li key={`${alert.kind}${alert.run}${alert.tag}${alert.step}${i}`}>
            <AlertLine alert={alert} more={others.length} />
          </li>
        ))}
      </ul>
      {(found.length > flat.length || all) && (
        <button type="button" class="link-button alerts-more" onClick={() => setAll(!all)}>
          {all ? 'Show fewer' : `Show all ${integer(found.length)} alerts`}
        </button>
      )}
    </section>
  );
}

function AlertLine({ alert, more }: { alert: Alert; more: number }) {
  return (
    <button type="button" class={`alert alert-${alert.kind}`} data-alert={alert.kind} onClick={() => follow(alert)}>
      <Icon name="warn" />
      <span class="alert-kind">{kWords[alert.kind] ?? alert.kind}</span>
      <span class="alert-run" title={alert.run}>
        {middle(alert.run, 28)}
      </span>
      <span class="alert-text" title={alert.text}>
        {alert.text}
        {more > 0 && <span class="muted">; then {plural(more, 'other tag')}</span>}
      </span>
      <span class="muted alert-where">
        {alert.step !== null && `step ${integer(alert.step)}`}
        {alert.time !== null && (
          <span title={time(alert.time)}>
            {alert.step !== null && ' · '}
            {ago(alert.time)}
          </span>
        )}
      </span>
    </button>
  );
}
