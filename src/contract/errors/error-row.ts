/** A row of the table of errors. */
import type { Localized } from '../schema/locale.ts';

export interface ErrorRow {
  /** Status of the HTTP answer: 200 once the request has reached an operation. */
  readonly http: number;
  /** `code` in the answer of an SMS operation, `status` in that of `/api/app/*`. */
  readonly sms: 2001 | 2003 | 2005 | 2009 | 2010 | 2011 | 2012 | 2013 | 2015;
  /** `{name}` stands for a parameter, of which both languages have the same. */
  readonly text: Localized;
}

export function row<const S extends ErrorRow['sms'], const Zh extends string, const En extends string>(
  http: number,
  sms: S,
  zh: Zh,
  en: En,
) {
  return { http, sms, text: { 'zh-CN': zh, en } } as const;
}

/** A row of most errors: an operation refuses what it was given. */
export function refusal<const Zh extends string, const En extends string>(zh: Zh, en: En) {
  return row(200, 2001, zh, en);
}
