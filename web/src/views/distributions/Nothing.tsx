import { tagFilter, tags } from '../../state';
import { Copy, Empty } from '../../ui/states';
import { kKinds } from './groups';

// Why there is nothing to see, and what to do about it.
export function Nothing() {
  const any = tags.value.some((tag) => kKinds.includes(tag.kind));
  if (any) {
    return (
      <Empty title="No distribution to show">
        <p>
          {tagFilter.value ? 'No tag of a visible run matches the filter: change it, or show more runs.' : 'Show a run that has histograms: its name in the panel says which.'}
        </p>
      </Empty>
    );
  }
  return (
    <Empty title="No histograms in this log yet">
      <p>They appear here as soon as one is recorded:</p>
      <Copy text={'rec.histogram("dense_1/kernel", sonde::view(weights, {784, 128}), step);'} />
      <p>or, with TensorBoard's writers:</p>
      <Copy text={'writer.add_histogram("dense_1/kernel", weights, step)'} />
    </Empty>
  );
}
