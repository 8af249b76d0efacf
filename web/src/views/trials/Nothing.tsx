import { runs } from '../../state';
import { Copy, Empty } from '../../ui/states';

// Why the view is empty, and what to do about it.
export function Nothing() {
  if (runs.value.some((run) => Object.keys(run.hparams).length > 0)) {
    return (
      <Empty title="No trial is shown">
        <p>The visible runs have no hyper-parameters: show more runs on the left, or change the filter.</p>
      </Empty>
    );
  }
  return (
    <Empty title="No hyper-parameters in this log yet">
      <p>A run becomes a trial when it records hyper-parameters:</p>
      <Copy text={'rec.hparams({.values = {{"lr", 1e-3}, {"optimizer", "adam"}}, .metrics = {"loss"}});'} />
      <p>or, with TensorBoard's writers:</p>
      <Copy text={'writer.add_hparams({"lr": 1e-3, "optimizer": "adam"}, {"loss": loss})'} />
    </Empty>
  );
}
