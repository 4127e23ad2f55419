/** A catalogue of texts: the same members in both languages, functions where something is inserted. */
import type { Locale } from '#contract/schema/locale.ts';
import { usePreference } from '../services.tsx';

export type Catalogue<T> = Readonly<Record<Locale, T>>;

export function useText<T>(catalogue: Catalogue<T>): T {
  return catalogue[usePreference('locale')];
}
