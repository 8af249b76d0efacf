// The first step and layer at which two runs part.
import { num } from '../../api';
import { setCursor } from '../../state';
import { integer, middle, value } from '../../ui/format';
import { useAsked } from '../../ui/hooks';
import { askParting } from './api';
import { splitTag } from './rows';
import { kind, layer, panel } from './settings';

export function Parting({ a, b, version }: { a: string; b: string; version: number }) {
  const asked = useAsked(JSON.stringify([a, b]), (signal) => askParting(a, b, signal), version);
  const found = asked.value;
  if (asked.error) return <p class="net-parting muted">{asked.error}</p>;
  if (!found) return <p class="net-parting muted">Comparing {middle(a, 30)} and {middle(b, 30)}…</p>;
  if (!found.parting)
    return <p class="net-parting muted">The statistics of all {integer(found.compared)} common tensors agree at every common step, within the tolerances of their types.</p>;
  const { step, tag, statistic } = found.parting;
  const go = () => {
    kind.value = splitTag(tag).kind;
    layer.value = tag;
    panel.value = true;
    setCursor(step);
  };
  return (
    <p class="net-parting">
      The runs part at step {integer(step)} in{' '}
      <button type="button" class="link-button" onClick={go} data-parting={`${step} ${tag}`}>
        {middle(tag, 60)}
      </button>
      <span class="muted">
        : {statistic} {value(num(found.parting.a), 6)} against {value(num(found.parting.b), 6)}
      </span>
    </p>
  );
}
