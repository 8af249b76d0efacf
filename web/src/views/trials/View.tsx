import './style.css';

import { Matrix } from './Matrix';
import { Nothing } from './Nothing';
import { Parallel } from './Parallel';
import { Scatter } from './Scatter';
import { scatterShape } from './settings';
import { Toolbar } from './Toolbar';
import { TrialsTable } from './TrialsTable';
import { useTrials } from './useTrials';

// The hyper-parameters that were tried, and the results.
export default function TrialsView() {
  const trials = useTrials();
  const matrix = scatterShape.value === 'matrix';
  if (trials.names.length === 0) return <Nothing />;
  return (
    <div class="trials-view">
      <Toolbar trials={trials} />
      <Parallel trials={trials} />
      <div class={`trials-row ${matrix ? 'trials-wide' : ''}`}>
        {matrix ? <Matrix trials={trials} /> : <Scatter trials={trials} />}
        <TrialsTable trials={trials} />
      </div>
    </div>
  );
}
