import { status } from '../state';
import { Copy, Empty } from '../ui/states';

const kCpp = `auto rec = sonde::Recorder::open_or_disabled("logs/train");
rec.scalar("loss", loss, step);`;
const kTorch = `from torch.utils.tensorboard import SummaryWriter
SummaryWriter("logs/train").add_scalar("loss", loss, step)`;

// Nothing was recorded yet: shows how to do it.
export function NoRuns() {
  const logs = status.value?.logs ?? [];
  const problems = logs.flatMap((log) => log.problems);
  return (
    <Empty title="No runs yet">
      <p>
        Nothing was found in {logs.map((log) => log.directory).join(', ') || 'the log directory'}. A run is a directory
        with event files; it appears here by itself as soon as something is recorded.
      </p>
      {problems.map((problem) => (
        <p key={problem} class="bad">
          {problem}
        </p>
      ))}
      <p>From C++:</p>
      <Copy text={kCpp} />
      <p>From anything that writes for TensorBoard:</p>
      <Copy text={kTorch} />
      <p>Or train and record a small network now:</p>
      <Copy text="sonde demo" />
    </Empty>
  );
}
