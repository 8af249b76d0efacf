// Named views: links of this page that the browser remembers under a name.
import { localSignal } from './state';
import { json } from './url';

export interface SavedView {
  name: string;
  link: string; // the fragment of the address
}

const isSaved = (value: unknown): value is SavedView[] =>
  Array.isArray(value) &&
  value.every((one: unknown) => {
    const { name, link } = (one ?? {}) as SavedView;
    return typeof name === 'string' && typeof link === 'string' && link.startsWith('#/');
  });

export const savedViews = localSignal<SavedView[]>('views', [], json(isSaved));

// A name that exists already gets the new link.
export function saveView(name: string, link: string): void {
  savedViews.value = [...savedViews.peek().filter((one) => one.name !== name), { name, link }];
}

export function forgetView(name: string): void {
  savedViews.value = savedViews.peek().filter((one) => one.name !== name);
}
