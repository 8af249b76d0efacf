// The columns of the table of runs.

// CSS pixels, about.
const kFixed = 700; // run, state, last step, speed, note, actions
const kMetric = 124;
const kHparam = 84;

// As many columns as there is room for: at least one metric, then hyper-parameters, which tell the runs apart.
export function columnsThatFit(room: number, metrics: number, hparams: number): { metrics: number; hparams: number } {
  const first = Math.min(metrics, 2);
  const left = room - kFixed - first * kMetric;
  const few = Math.max(0, Math.min(hparams, Math.floor(left / kHparam)));
  const more = Math.max(0, Math.floor((left - few * kHparam) / kMetric));
  const one = left < 0 && first === 2 ? 1 : first;
  return { metrics: Math.min(metrics, one + more), hparams: few };
}
