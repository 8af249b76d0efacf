// Statistics of tensors as charts, as other views and links ask for them.
import type { ComponentChildren } from 'preact';

import { statLines, statTag } from '../../stat_lines';
import { Portions, SectionView } from './SectionView';

export function StatLines({ card }: { card: (tag: string) => ComponentChildren }) {
  const known = statLines.value.filter((tag) => statTag(tag) !== undefined);
  if (known.length === 0) return null;
  return (
    <SectionView id="stats" title="Statistics of tensors" count={known.length}>
      {() => (
        <>
          <Portions items={known} card={card} />
          <button type="button" class="text-button" onClick={() => (statLines.value = [])}>
            Remove these charts
          </button>
        </>
      )}
    </SectionView>
  );
}
