/** How a setting is called, and what it does, in both languages: the rows of `setting-texts.ts`. */
import type { Localized } from '../schema/locale.ts';

export interface SettingWords {
  readonly title: Localized;
  /** What changes for viewers or origins, in one sentence. Empty where the title says it. */
  readonly effect: Localized;
  /** Meaning of each value of a choice. */
  readonly values?: Readonly<Record<string, Localized>>;
  /** Members of a list of rules. */
  readonly members?: Readonly<Record<string, SettingWords>>;
}

/** Chinese stands before English, as in `Localized`. */
export function both(zh: string, en: string): Localized {
  return { 'zh-CN': zh, en };
}

export function words(zhTitle: string, enTitle: string, zhEffect = '', enEffect = ''): SettingWords {
  return { title: both(zhTitle, enTitle), effect: both(zhEffect, enEffect) };
}
