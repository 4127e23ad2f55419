/** The languages that answers are written in, and which of them a request asks for. */

const LOCALES = ['zh-CN', 'en'] as const;

export type Locale = (typeof LOCALES)[number];

/** One text in every language. */
export type Localized = Readonly<Record<Locale, string>>;

/** More ranges than a browser sends are not read. */
const MAX_RANGES = 20;

/**
 * The language of the answer: the best of `Accept-Language` (RFC 9110 §12.5.4) that we have, else `fallback`. A range is
 * compared by its primary language, so `zh-TW` reads zh-CN and `en-GB` reads en; the first wins among equals.
 */
export function chooseLocale(acceptLanguage: string | undefined, fallback: Locale): Locale {
  if (acceptLanguage === undefined) return fallback;
  let best: { locale: Locale; quality: number } | undefined;
  for (const range of acceptLanguage.split(',', MAX_RANGES)) {
    const [tag = '', ...parameters] = range.split(';').map((part) => part.trim().toLowerCase());
    const locale = tag === '*' ? fallback : LOCALES.find((known) => primaryOf(known) === primaryOf(tag));
    const quality = qualityOf(parameters);
    if (locale !== undefined && quality > (best?.quality ?? 0)) best = { locale, quality };
  }
  return best?.locale ?? fallback;
}

function primaryOf(tag: string): string | undefined {
  return tag.split('-')[0]?.toLowerCase();
}

/** 1 when none is given; 0, which means "not this one", when it is malformed. */
function qualityOf(parameters: readonly string[]): number {
  const weight = parameters.find((parameter) => parameter.startsWith('q='));
  if (weight === undefined) return 1;
  return /^q=(0(\.\d{0,3})?|1(\.0{0,3})?)$/.test(weight) ? Number(weight.slice(2)) : 0;
}
