/** A browser and its system by the names that people know, from `User-Agent`. Pure. */

/** The first that fits: all of them also say that they are one further down. */
const BROWSERS = [
  ['Edge', /\bEdg(?:e|A|iOS)?\//],
  ['Opera', /\bOPR\//],
  ['Firefox', /\b(?:Firefox|FxiOS)\//],
  ['Chrome', /\b(?:Headless)?Chrome\/|\bCriOS\//],
  ['Safari', /\bSafari\//],
  ['curl', /^curl\//],
] as const;

const SYSTEMS = [
  ['iOS', /\b(?:iPhone|iPad)\b/],
  ['Android', /\bAndroid\b/],
  ['Windows', /\bWindows\b/],
  ['macOS', /\bMac OS X\b/],
  ['ChromeOS', /\bCrOS\b/],
  ['Linux', /\bLinux\b/],
] as const;

interface Browser {
  /** `undefined`: not known. */
  readonly browser: string | undefined;
  readonly system: string | undefined;
}

export function browserOf(userAgent: string): Browser {
  const nameIn = (names: typeof BROWSERS | typeof SYSTEMS) => names.find(([, pattern]) => pattern.test(userAgent))?.[0];
  return { browser: nameIn(BROWSERS), system: nameIn(SYSTEMS) };
}
