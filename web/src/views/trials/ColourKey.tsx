import { dark } from '../../state';
import { middle } from '../../ui/format';
import type { Axis } from './axes';
import { cellText } from './cells';
import { mapColour } from './colours';

const kParts = 24;

// Which colour means which value.
export function ColourKey({ axis }: { axis: Axis }) {
  const end = (place: number): string => (axis.categories ? middle((place === 0 ? axis.categories[0] : axis.categories.at(-1)) ?? '', 12) : cellText(axis.valueAt(place)));
  return (
    <div class="trials-key" role="img" aria-label={`Colour: ${axis.column.name} from ${end(0)} to ${end(1)}`}>
      <span class="muted">{middle(axis.column.name, 24)}</span>
      <span>{end(0)}</span>
      <span class="trials-ramp">
        {Array.from({ length: kParts }, (_, i) => (
          <i key={i} style={{ background: mapColour(i / (kParts - 1), dark.value) }} />
        ))}
      </span>
      <span>{end(1)}</span>
    </div>
  );
}
