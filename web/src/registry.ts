// A view is a folder below views/ whose index.ts calls register(): adding one needs no other change.
import type { ComponentType } from 'preact';

export interface View {
  id: string; // in the address: #/<id>
  title: string;
  order: number; // from left to right
  kinds: string[]; // kinds of tags that it shows; their number is shown next to the title. Empty: no number
  load: () => Promise<{ default: ComponentType }>;
}

const views = new Map<string, View>();

export function register(view: View): void {
  if (views.has(view.id)) throw new Error(`Two views are called "${view.id}".`);
  views.set(view.id, view);
}

export function allViews(): View[] {
  return [...views.values()].sort((a, b) => a.order - b.order);
}

const components = new Map<string, ComponentType>();

export async function loadView(id: string): Promise<ComponentType> {
  const found = components.get(id) ?? (await views.get(id)?.load())?.default;
  if (!found) throw new Error(`There is no view "${id}".`);
  components.set(id, found);
  return found;
}

// Of a view that has been loaded.
export const componentOf = (id: string): ComponentType | undefined => components.get(id);

export function viewOf(id: string): View | undefined {
  return views.get(id);
}
