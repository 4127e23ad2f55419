/**
 * Tables of plain settings: a row has the kind of a member, its default and its bounds. Stored settings, the
 * specification for edges, its compiler and the interface are made from them (docs/decisions/0512). Imports only limits:
 * the contract runs anywhere.
 */
import { MAX_HSTS_SECONDS, MAX_STALE_CAP_SECONDS, YEAR_SECONDS } from './limits.ts';

export type SettingRow =
  | { readonly kind: 'switch'; readonly default: boolean }
  | { readonly kind: 'seconds'; readonly default: number; readonly max: number }
  | { readonly kind: 'number'; readonly default: number; readonly min: number; readonly max: number }
  /** `max` is a number of characters. */
  | { readonly kind: 'text'; readonly default: string; readonly max: number }
  | { readonly kind: 'choice'; readonly default: string; readonly of: readonly [string, ...string[]] };

export type SettingTable = Readonly<Record<string, SettingRow>>;

export type ValueOf<R> = R extends { readonly kind: 'choice'; readonly of: readonly (infer C)[] }
  ? C
  : R extends { readonly kind: 'switch' }
    ? boolean
    : R extends { readonly kind: 'text' }
      ? string
      : number;

export type SettingsOf<T extends SettingTable> = { readonly [M in keyof T]: ValueOf<T[M]> };

/** Switches that stages read from the compiled site. */
export const SITE_SWITCHES = {
  /** The query is not part of the cache key, though the origin gets it. */
  ignoresQuery: { kind: 'switch', default: false },
  redirectFollow: { kind: 'switch', default: false },
  pageCompress: { kind: 'switch', default: false },
  rangeBackSource: { kind: 'switch', default: false },
} as const satisfies SettingTable;

/** Validities in browsers; 0 leaves the origin's headers. docs/decisions/0003 */
export const VALIDITIES = {
  expiresSeconds: { kind: 'seconds', default: 0, max: YEAR_SECONDS },
  /** Validity of a preflight's result. */
  accessControlMaxAgeSeconds: { kind: 'seconds', default: 0, max: YEAR_SECONDS },
} as const satisfies SettingTable;

/** What specification and compiled site have as a member of the same name. */
export const SITE_SETTINGS = { ...SITE_SWITCHES, ...VALIDITIES };

export const SWITCHES = {
  ...SITE_SWITCHES,
  /** Cache policies for directories go first. */
  prefixCacheFirst: { kind: 'switch', default: false },
  /** The domain is served over HTTPS, with the certificate of `sslKey`. */
  sslControl: { kind: 'switch', default: false },
} as const satisfies SettingTable;

/** What a customer chooses about caching beyond the interface document. */
export const CACHE_SETTINGS = {
  /** A response with a cookie: never stored, stored with it when its freshness is explicit, or stored without it. */
  setCookie: { kind: 'choice', default: 'bypass', of: ['bypass', 'store', 'strip'] },
  /** Whether a viewer's own cache directives count. */
  requestDirectives: { kind: 'switch', default: false },
  /** Longest lifetime without an explicit one; 0: none. */
  heuristicCapSeconds: { kind: 'seconds', default: 3600, max: YEAR_SECONDS },
  /** Time past its expiry for which a response may be served when no origin can be reached; 0: never. */
  staleCapSeconds: { kind: 'seconds', default: 24 * 3600, max: MAX_STALE_CAP_SECONDS },
  /** Whether values of varying headers that mean the same are one variant. */
  normalizeVary: { kind: 'switch', default: true },
  /** Whether a stored response in the viewer's one preferred language does without asking the origin. */
  matchLanguage: { kind: 'switch', default: false },
} as const satisfies SettingTable;

/** Settings of a domain that has a certificate; kept while it has none. */
export const HTTPS_SETTINGS = {
  /** Plain HTTP is redirected to HTTPS. */
  forceHttps: { kind: 'switch', default: false },
  /** 0: no `Strict-Transport-Security`. */
  hstsMaxAgeSeconds: { kind: 'seconds', default: 0, max: MAX_HSTS_SECONDS },
  minVersion: { kind: 'choice', default: '1.2', of: ['1.2', '1.3'] },
} as const satisfies SettingTable;

export type SiteSettings = SettingsOf<typeof SITE_SETTINGS>;
export type CacheSettings = SettingsOf<typeof CACHE_SETTINGS>;
export type HttpsSettings = SettingsOf<typeof HTTPS_SETTINGS>;

export function defaultsOf<T extends SettingTable>(table: T): SettingsOf<T> {
  return mapSettings(table, (_, row) => row.default);
}

/** The settings whose values `read` returns for each member and its row. */
export function mapSettings<T extends SettingTable>(
  table: T,
  read: (member: keyof T & string, row: SettingRow) => unknown,
): SettingsOf<T> {
  const entries = Object.entries(table).map(([member, row]) => [member, read(member, row)]);
  return Object.fromEntries(entries) as SettingsOf<T>; // fromEntries forgets the members
}
