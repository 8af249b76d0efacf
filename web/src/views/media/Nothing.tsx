import { tagFilter, tags } from '../../state';
import { Copy, Empty } from '../../ui/states';
import { kKinds } from './settings';

// Why there is nothing to see, and what to do about it.
export function Nothing() {
  const any = tags.value.some((tag) => (kKinds as string[]).includes(tag.kind));
  if (any) {
    return (
      <Empty title="Nothing to show here">
        <p>
          {tagFilter.value
            ? 'No image, sound or text of a visible run matches the tag filter: change it, or show more runs.'
            : 'The visible runs have nothing of this kind: choose All above, or show more runs on the left.'}
        </p>
      </Empty>
    );
  }
  return (
    <Empty title="No images, sounds or text in this log yet">
      <p>They appear here as soon as one is recorded:</p>
      <Copy text={'rec.image("conv_1/out", sonde::view(activations, {1, 24, 24, 32}), step, sonde::Layout::NHWC);'} />
      <p>or, with TensorBoard's writers:</p>
      <Copy text={'writer.add_image("sample", image, step)'} />
    </Empty>
  );
}
