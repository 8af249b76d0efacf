import { useComputed } from '@preact/signals';
import { useRef } from 'preact/hooks';
import './style.css';

import { filteredTags, loaded, visibleSet } from '../../state';
import { useSize } from '../../ui/hooks';
import { Loading } from '../../ui/states';
import { groupTags, kKinds } from './groups';
import { Nothing } from './Nothing';
import { TagGroup } from './TagGroup';
import { Toolbar } from './Toolbar';

export default function DistributionsView() {
  const groups = useComputed(() => groupTags(filteredTags.value, kKinds, visibleSet.value));
  const root = useRef<HTMLDivElement>(null);
  const { width } = useSize(root);
  return (
    <div class="dist-view" ref={root}>
      <Toolbar />
      {!loaded.value && <Loading what="Reading the log" />}
      {loaded.value && groups.value.length === 0 && <Nothing />}
      {width > 0 &&
        groups.value.map((group) => <TagGroup key={group.name} group={group} width={width - 2} />)}
    </div>
  );
}
