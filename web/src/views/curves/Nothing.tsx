import { tagFilter, tags } from '../../state';
import { Copy, Empty } from '../../ui/states';

// Why there is nothing to see, and what to do about it.
export function Nothing() {
  if (tags.value.some((tag) => tag.kind === 'pr_curves')) {
    return (
      <Empty title="Nothing to show here">
        <p>
          {tagFilter.value
            ? 'No curve of a visible run matches the tag filter: change it, or show more runs.'
            : 'The visible runs have no curves: show more runs on the left.'}
        </p>
      </Empty>
    );
  }
  return (
    <Empty title="No precision-recall curves in this log yet">
      <p>They appear here as soon as one is recorded: labels of 0 and 1, and predictions from 0 to 1.</p>
      <Copy text={'rec.pr_curve("test", sonde::view(labels), sonde::view(predictions), step);'} />
      <p>or, with TensorBoard's writers:</p>
      <Copy text={'writer.add_pr_curve("test", labels, predictions, step)'} />
    </Empty>
  );
}
