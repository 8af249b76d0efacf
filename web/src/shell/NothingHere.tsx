import { tagFilter, tags } from '../state';
import { Copy, Empty } from '../ui/states';

export interface NothingHereProps {
  kinds: readonly string[]; // of the view
  title: string; // if data exists but is not visible
  filtered: string; // what to do if tags are filtered
  hidden: string; // what to do otherwise
  none: string; // the title if none was recorded
  cpp: string; // how to record one
  python: string;
}

// Why a view is empty, and what to do about it.
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
