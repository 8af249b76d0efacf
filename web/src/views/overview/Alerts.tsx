import { batch } from '@preact/signals';
import { useState } from 'preact/hooks';

import type { Alert } from '../../api_types';
import { allViews } from '../../registry';
import { toggled } from '../../selection';
import { alerts, alertsLoaded, runs, selection, setCursor, tagFilter, view, visibleSet } from '../../state';
import { addressOf, openCapture, openStep, openTensor } from '../captures/capture';
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

// Opens the capture of a trigger, otherwise the tag and step of the alert.
function follow(alert: Alert): void {
  if (alert.capture !== null && alert.kind !== 'nonfinite') {
    const address = addressOf(alert.run, alert.capture);
    batch(() => {
      openCapture.value = address;
      openStep.value = null;
      openTensor.value = '';
      view.value = 'captures';
    });
    return;
  }
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

// The expected height of the alerts, from the list of runs: nothing should jump when they arrive.
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

// Tensors come before the scalars that are computed from them.
const rank = (alert: Alert) => (alert.tag_kind === 'scalars' ? 1 : 0);

// The non-finite values of a run are one line: a NaN spreads through a whole network within a step, and what matters is
// which tensor had it first. The line comes before the triggers that fired because of it.
export function gathered(all: readonly Alert[]): Shown[] {
  const nonfinite = new Map<string, Alert[]>(); // by run
  for (const alert of all)
    if (alert.kind === 'nonfinite') nonfinite.set(alert.run, [...(nonfinite.get(alert.run) ?? []), alert]);
  const causes = new Map<string, Shown>();
  for (const [run, group] of nonfinite) {
    const [alert, ...others] = group.sort(
      (a, b) => (a.step ?? Infinity) - (b.step ?? Infinity) || rank(a) - rank(b) || (a.time ?? 0) - (b.time ?? 0),
    );
    if (alert) causes.set(run, { alert, others });
  }
  const made: Shown[] = [];
  for (const alert of all) {
    const cause = causes.get(alert.run);
    const symptom = alert.kind === 'nonfinite' || (alert.step ?? -Infinity) >= (cause?.alert.step ?? Infinity);
    if (cause && symptom) {
      made.push(cause);
      causes.delete(alert.run);
    }
    if (alert.kind !== 'nonfinite') made.push({ alert, others: [] });
  }
  return made;
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
    <button type="button" class={`alert alert-${alert.kind} ${alert.value === 'Infinity' || alert.value === '-Infinity' ? 'alert-inf' : ''}`} data-alert={alert.kind} onClick={() => follow(alert)}>
      <Icon name="warn" />
      <span class="alert-kind">{kWords[alert.kind] ?? alert.kind}</span>
      <span class="alert-run" title={alert.run}>
        {middle(alert.run, 28)}
      </span>
      <span class="alert-text" title={alert.text}>
        {alert.text}
        {more > 0 && <span class="muted">; then {plural(more, 'other tag')}</span>}
      </span>
      {alert.capture !== null && alert.kind !== 'nonfinite' && <span class="alert-open">open capture</span>}
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
