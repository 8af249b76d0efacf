// The colour scale, with the colours that are not on it.
import { dark } from '../../state';
import { value } from '../../ui/format';
import { divergingAt, type Scale } from './colour';
import { against } from './settings';
import type { StatisticInfo } from './statistics';
import { viridis } from '../../viridis';

export function Legend({ scale, info }: { scale: Scale; info: StatisticInfo }) {
  const stops = Array.from({ length: 9 }, (_, i) =>
    scale.diverging ? `rgb(${divergingAt(i / 8, dark.value).join(' ')})` : viridis(i / 8),
  );
  const unit = against.value === 'past' ? ' σ' : '';
  const factor = against.value === 'difference' && info.log;
  const show = (x: number) => (factor ? `× ${value(2 ** x, 3)}` : `${value(x, 3)}${unit}`);
  return (
    <span class="net-legend muted" title={`${info.about}${scale.log ? '; logarithmic colours' : ''}`} data-scale={`${scale.lo},${scale.hi}`}>
      {show(scale.lo)}
      <i style={{ background: `linear-gradient(to right, ${stops.join(', ')})` }} />
      {show(scale.hi)}
      <b class="net-key net-key-nan" />
      NaN
      <b class="net-key net-key-inf" />
      Inf
    </span>
  );
}
