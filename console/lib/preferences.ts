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
