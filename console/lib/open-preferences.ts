/** Preferences in `localStorage`, and on the page. */
import { type Preferences, readPreferences } from './preferences.ts';
import { createStore, type Store } from './store.ts';

const KEY = 'causeway';

/** Preferences that are saved, and applied to the page, whenever they change. `languages`: what the browser asks for. */
export function openPreferences(
  storage: Pick<Storage, 'getItem' | 'setItem'>,
  languages: readonly string[],
  page: HTMLElement,
): Store<Preferences> {
  const store = createStore(readPreferences(storage.getItem(KEY), languages));
  const apply = () => {
    const { locale, theme, density } = store.get();
    page.lang = locale;
    page.dataset['theme'] = theme;
    page.dataset['density'] = density;
  };
  apply();
  store.subscribe(() => {
    apply();
    storage.setItem(KEY, JSON.stringify(store.get()));
  });
  return store;
}
