/** What a person chose for this browser: language, theme, time zone, density. Pure. */
import type { Locale } from '#contract/schema/locale.ts';

export const THEMES = ['system', 'light', 'dark'] as const;
export const ZONES = ['service', 'own', 'utc'] as const;
export const DENSITIES = ['normal', 'dense'] as const;
const LOCALES = ['zh-CN', 'en'] as const satisfies readonly Locale[];

export interface Preferences {
  readonly locale: Locale;
  readonly theme: (typeof THEMES)[number];
  /** Zone of shown times: of the service, of this machine, or UTC. */
  readonly zone: (typeof ZONES)[number];
  readonly density: (typeof DENSITIES)[number];
}

/** What is missing or unknown in the saved text is as in a browser that has none. */
export function readPreferences(saved: string | null, languages: readonly string[]): Preferences {
  const given = parse(saved);
  const isChinese = languages[0]?.toLowerCase().startsWith('zh') === true;
  return {
    locale: oneOf(LOCALES, given['locale'], isChinese ? 'zh-CN' : 'en'),
    theme: oneOf(THEMES, given['theme'], 'system'),
    zone: oneOf(ZONES, given['zone'], 'service'),
    density: oneOf(DENSITIES, given['density'], 'normal'),
  };
}

/** What a person has chosen, as the service keeps it; empty: nothing. */
interface Profile {
  readonly locale: string;
  readonly time_zone: string;
  readonly density: string;
}

/** IANA names of the zones that can be chosen besides UTC. */
interface Zones {
  readonly service: string;
  readonly own: string;
}

/** The zone of another machine is shown as that of this one. */
export function preferencesOf({ locale, time_zone, density }: Profile, { service }: Zones): Partial<Preferences> {
  const chosen = LOCALES.find((known) => known === locale);
  return {
    ...(chosen && { locale: chosen }),
    ...(time_zone !== '' && { zone: time_zone === 'UTC' ? 'utc' : time_zone === service ? 'service' : 'own' }),
    density: oneOf(DENSITIES, density, 'normal'),
  };
}

/** The members that a choice concerns; the theme stays with the browser. */
export function profileOf({ locale, zone, density }: Partial<Preferences>, { service, own }: Zones) {
  return {
    ...(locale && { locale }),
    ...(zone && { time_zone: { utc: 'UTC', service, own }[zone] }),
    ...(density && { density }),
  };
}

function oneOf<T>(known: readonly T[], given: unknown, otherwise: T): T {
  return known.find((value) => value === given) ?? otherwise;
}

function parse(saved: string | null): Readonly<Record<string, unknown>> {
  try {
    return Object(JSON.parse(saved ?? '{}'));
  } catch {
    return {}; // somebody else's text
  }
}
