import { Choice } from '../../ui/Choice';
import { scatterShape } from './settings';

export function ShapeChoice() {
  return (
    <Choice
      label="Scatter charts"
      value={scatterShape.value}
      onChange={(next) => (scatterShape.value = next)}
      options={[
        { value: 'one', label: 'One', title: 'Any column over any other' },
        { value: 'matrix', label: 'Matrix', title: 'Each metric over each hyper-parameter' },
      ]}
    />
  );
}
