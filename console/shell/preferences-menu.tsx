/** Language, theme, zone of times, density. */
import { Menu } from '../components/menu.tsx';
import { DENSITIES, type Preferences, THEMES, ZONES } from '../lib/preferences.ts';
import { useStore } from '../lib/store.ts';
import { useServices } from '../services.tsx';
import { useText } from '../text/catalogue.ts';
import { shellText } from '../text/shell.ts';
import { usePrefer } from './own-preferences.ts';

export function PreferencesMenu() {
  const t = useText(shellText);
  const { preferences } = useServices();
  const prefer = usePrefer();
  const chosen = useStore(preferences);
  const group = <K extends keyof Preferences>(
    name: K,
    title: string,
    values: readonly Preferences[K][],
    titles: Readonly<Record<Preferences[K], string>>,
  ) => ({
    title,
    items: values.map((value) => ({
      title: titles[value],
      isChosen: chosen[name] === value,
      onChoose: () => prefer({ [name]: value }),
    })),
  });
  const groups = [
    group('locale', t.language, ['zh-CN', 'en'], t.languages),
    group('theme', t.theme, THEMES, t.themes),
    group('zone', t.zone, ZONES, t.zones),
    group('density', t.density, DENSITIES, t.densities),
  ];
  return <Menu label={t.preferences} icon="settings" groups={groups} />;
}
