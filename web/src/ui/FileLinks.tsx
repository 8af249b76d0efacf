import { middles } from './format';
import { Menu } from './Menu';

export interface FileLink {
  label: string;
  address: string;
  file: string; // its name
}

// A menu of files to download, one for each run of a card.
export function FileLinks({ title, links }: { title: string; links: readonly FileLink[] }) {
  if (links.length === 0) return null;
  const names = middles(
    links.map(({ label }) => label),
    30,
  );
  return (
    <Menu label={`Download ${title}`} icon="download">
      {(close) =>
        links.map(({ address, file, label }, i) => (
          <a key={address} class="menu-item" href={address} download={file} title={label} onClick={close}>
            {names[i]}
          </a>
        ))
      }
    </Menu>
  );
}

export const fileName = (...parts: (string | number)[]): string => parts.join('-').replace(/[^\w.-]+/g, '_');
