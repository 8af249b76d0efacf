// Small line drawings of 16 x 16, drawn in the colour of the text.
const kPaths = {
  full: 'M2.5 6V2.5H6M10 2.5h3.5V6M13.5 10v3.5H10M6 13.5H2.5V10',
  close: 'M4 4l8 8M12 4l-8 8',
  pin: 'M8 10v4M5 3h6M6 3v4l-2 3h8l-2-3V3',
  more: 'M3.5 8h.01M8 8h.01M12.5 8h.01',
  eye: 'M1.5 8S4 3.5 8 3.5 14.5 8 14.5 8 12 12.5 8 12.5 1.5 8 1.5 8zM8 6.2a1.8 1.8 0 100 3.6 1.8 1.8 0 000-3.6z',
  eyeOff:
    'M2.5 2.5l11 11M6 4a7 7 0 012-.4c4 0 6.5 4.4 6.5 4.4a11 11 0 01-1.8 2.2M4 5.2A11 11 0 001.5 8S4 12.4 8 12.4c1 0 1.9-.2 2.6-.6',
  solo: 'M8 2.5v2M8 11.5v2M2.5 8h2M11.5 8h2M8 6a2 2 0 100 4 2 2 0 000-4z',
  play: 'M5 3.2v9.6L12.5 8z',
  pause: 'M5.2 3.5v9M10.8 3.5v9',
  last: 'M4 3.5L9.5 8 4 12.5zM12 3.5v9',
  down: 'M4 6l4 4 4-4',
  right: 'M6 4l4 4-4 4',
  left: 'M10 4L6 8l4 4',
  reset: 'M3 8a5 5 0 105-5H4.5M6.5 1L4.3 3l2.2 2',
  sun: 'M8 5a3 3 0 100 6 3 3 0 000-6zM8 1v1.6M8 13.4V15M1 8h1.6M13.4 8H15M3 3l1.2 1.2M11.8 11.8L13 13M3 13l1.2-1.2M11.8 4.2L13 3',
  moon: 'M13 9.5A5.5 5.5 0 016.5 3 5.5 5.5 0 1013 9.5z',
  auto: 'M8 2.5a5.5 5.5 0 100 11 5.5 5.5 0 000-11zM8 2.5v11',
  menu: 'M2.5 4.5h11M2.5 8h11M2.5 11.5h11',
  target: 'M8 3.5a4.5 4.5 0 100 9 4.5 4.5 0 000-9zM8 1.5v4M8 10.5v4M1.5 8h4M10.5 8h4',
  trash: 'M3 4.5h10M6.5 4.5v-2h3v2M4.5 4.5l.6 9h5.8l.6-9',
  copy: 'M5.5 5.5v-3h8v8h-3M2.5 5.5h8v8h-8z',
  warn: 'M8 2l6.5 11.5h-13zM8 6.5v3M8 11.5v.01',
  select: 'M5 2.5v11M11 2.5v11M5 8h6',
  table: 'M2.5 3.5h11v9h-11zM2.5 6.5h11M6.5 3.5v9',
  gear: 'M3 4.5h6M12 4.5h1M3 11.5h1M7 11.5h6M10.5 3v3M5.5 10v3',
  download: 'M8 2.5v7.5M4.8 7L8 10.2 11.2 7M3 13.5h10',
  bookmark: 'M4.5 2.5h7v11L8 10.8l-3.5 2.7z',
  plus: 'M8 3v10M3 8h10',
  note: 'M3 13l.7-3L11 2.7l2.3 2.3L6 12.3z',
};

export type IconName = keyof typeof kPaths;

export function Icon({ name }: { name: IconName }) {
  return (
    <svg class="icon" viewBox="0 0 16 16" width="16" height="16" aria-hidden="true" focusable="false">
      <path d={kPaths[name]} />
    </svg>
  );
}
