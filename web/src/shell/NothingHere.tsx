import { tagFilter, tags } from '../state';
import { Copy, Empty } from '../ui/states';

export interface NothingHereProps {
  kinds: readonly string[]; // that the view shows
  title: string; // what there is, but not to see
  filtered: string; // what to do where tags are filtered
  hidden: string; // and where they are not
  none: string; // the title where none was recorded
  cpp: string; // how to record one
  python: string;
}

// Why there is nothing to see in a view, and what to do about it.
export function NothingHere(props: NothingHereProps) {
  if (tags.value.some((tag) => props.kinds.includes(tag.kind)))
    return (
      <Empty title={props.title}>
        <p>{tagFilter.value ? props.filtered : props.hidden}</p>
      </Empty>
    );
  return (
    <Empty title={props.none}>
      <p>They appear here as soon as one is recorded:</p>
      <Copy text={props.cpp} />
      <p>or, with TensorBoard's writers:</p>
      <Copy text={props.python} />
    </Empty>
  );
}
