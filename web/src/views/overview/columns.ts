// The columns of the table of runs.

// CSS pixels, about.
const kFixed = 470; // state, last step, speed, note, actions
const kCharacter = 7;
const kName = 34; // swatch and space beside the name of a run
const kMetric = 124;
const kHparam = 84;

// As many columns as there is room for beside names of `longest` characters: a metric, some hyper-parameters, which tell the
// runs apart, and more of both in turns.
export function columnsThatFit(
  room: number,
  longest: number,
  metrics: number,
  hparams: number,
): { metrics: number; hparams: number } {
  const found = { metrics: Math.min(1, metrics), hparams: 0 };
  let left = room - kFixed - kName - kCharacter * longest - found.metrics * kMetric;
  const take = (of: 'metrics' | 'hparams', most: number, width: number): void => {
    while (found[of] < most && left >= width) {
      ++found[of];
      left -= width;
    }
  };
  take('hparams', Math.min(3, hparams), kHparam);
  take('metrics', Math.min(2, metrics), kMetric);
  take('hparams', hparams, kHparam);
  take('metrics', metrics, kMetric);
  return found;
}
