import { useState } from 'preact/hooks';

import { forgetView, saveView, savedViews } from '../saved';
import { IconButton } from '../ui/IconButton';
import { Menu } from '../ui/Menu';
import { middle } from '../ui/format';

// Everything that is chosen on the page is in its address: a named view is such an address.
export function SavedViews() {
  const [name, setName] = useState('');
  const save = () => {
    if (name.trim() === '') return;
    saveView(name.trim(), location.hash || '#/');
    setName('');
  };
  return (
    <Menu label="Named views" icon="bookmark">
      {(close) => (
        <>
          {savedViews.value.map((one) => (
            <div class="saved-view" key={one.name}>
              <a class="menu-item" href={one.link} title={one.name} onClick={close}>
                {middle(one.name, 32)}
              </a>
              <IconButton icon="trash" label={`Forget ${one.name}`} onClick={() => forgetView(one.name)} />
            </div>
          ))}
          <form
            class="menu-row"
            onSubmit={(event) => {
              event.preventDefault();
              save();
            }}
          >
            <input
              type="text"
              placeholder="name of this view"
              aria-label="Name of this view"
              value={name}
              onInput={(event) => setName(event.currentTarget.value)}
            />
            <button type="submit" class="text-button" disabled={name.trim() === ''}>
              Save
            </button>
          </form>
        </>
      )}
    </Menu>
  );
}
