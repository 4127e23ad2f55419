/**
 * An accelerated domain as we store it and speak of it. The wire's names and codes are in `contract/` and `api/wire/wire.ts`;
 * what an edge needs of it is a `SiteSpec` (`sites/spec.ts`).
 */
import { NO_RULES, type PathRule, type RuleLists } from './rules.ts';
import {
  CACHE_SETTINGS,
  type CacheSettings,
  defaultsOf,
  HTTPS_SETTINGS,
  type HttpsSettings,
  type SettingsOf,
  SWITCHES,
  VALIDITIES,
} from './settings.ts';

/** static, download, on-demand video, live, dynamic: the wire's 1, 2, 3, 4, 6. */
export const ACCELERATION_TYPES = ['static', 'download', 'video', 'live', 'dynamic'] as const;

export type AccelerationType = (typeof ACCELERATION_TYPES)[number];

/** `follow`: the origin is asked with the scheme that the client used. */
export const ORIGIN_PROTOCOLS = ['http', 'https', 'follow'] as const;

export type OriginProtocol = (typeof ORIGIN_PROTOCOLS)[number];

/** Everything that a customer can set on a domain. Stored as one JSON text; a missing member reads as its default. */
export interface DomainSettings
  extends SettingsOf<typeof SWITCHES>,
    SettingsOf<typeof VALIDITIES>,
    Readonly<Record<DenyList, ListSettings>>,
    RuleLists {
  readonly originProtocol: OriginProtocol;
  /** Primary origins as the customer wrote them (`host`, `host:port`, `IP:port`, `[v6]:port`), in order. */
  readonly origins: readonly string[];
  readonly backups: readonly string[];
  /** Host header and SNI towards the origin; empty means the domain itself (for a wildcard: the requested host). */
  readonly originHost: string;
  /** Only its path and query are used; empty means no probe. */
  readonly monitorUrl: string;
  /** The edge's own refusal: a plain 403, the customer's page, or a redirect. */
  readonly forbidHttpCode: '' | '302' | '403';
  readonly forbidRedirectUrl: string;
  readonly html403: string;
  /** Certificate identifier; empty when `sslControl` is off. */
  readonly sslKey: string;
  /**
   * Key of a certificate with another kind of key, served to clients that accept no other; empty: none.
   * docs/decisions/0433
   */
  readonly secondSslKey: string;
  readonly https: HttpsSettings;
  readonly cache: CacheSettings;
  readonly caching: CachingSettings;
  readonly referer: RefererSettings;
  readonly recording: RecordingSettings;
  readonly addressLists: DomainLists;
  readonly signing: SigningSettings;
}

/** Signed URLs. Their keys are kept sealed, elsewhere. docs/decisions/0637 */
interface SigningSettings {
  readonly isOn: boolean;
  /** How long a URL is valid after its timestamp. */
  readonly validSeconds: number;
  /** What needs a signature; empty: everything. */
  readonly paths: readonly PathRule[];
}

/** Names of the account's lists of addresses. docs/decisions/0636 */
export interface DomainLists {
  /** Clients on any of these are refused. */
  readonly denied: readonly string[];
  /** Clients on none of these are refused; empty: all others are let in. */
  readonly allowed: readonly string[];
}

/** Applies to live domains. docs/decisions/0503 */
interface RecordingSettings {
  readonly isOn: boolean;
  /** How long recordings are kept after their last media; it also counts for those that were made before, and while it is off. */
  readonly days: number;
}

/** Cache policies, in the customer's order. Edge rule 4 */
export interface CachingSettings {
  /** `use_header_setting`. */
  readonly followsOrigin: boolean;
  readonly policies: readonly CachePolicy[];
}

export interface CachePolicy extends PathRule {
  /** Absent: both. */
  readonly scheme?: 'http' | 'https';
  /** 1 to 99; the highest wins. */
  readonly priority: number;
  readonly isCached: boolean;
  /** Time as sent: read back unchanged, and capped at a year by the edge. */
  readonly time: CacheTime;
}

export interface CacheTime {
  readonly years: number;
  readonly days: number;
  readonly hours: number;
  readonly minutes: number;
  readonly seconds: number;
}

export interface RefererSettings {
  /** `off` keeps the list. */
  readonly mode: 'off' | 'deny' | 'allow';
  readonly allowsBlank: boolean;
  readonly entries: readonly string[];
}

/** Lists of what is refused: the member of the settings, and that of specification and compiled site. */
const DENY_LISTS = { userAgent: 'deniedUserAgents', ip: 'deniedAddresses' } as const;

export type DenyList = keyof typeof DENY_LISTS;
export type DenyMember = (typeof DENY_LISTS)[DenyList];

export function eachDenyList<T>(make: (list: DenyList, member: DenyMember) => T): Readonly<Record<DenyList, T>> {
  const entries = Object.entries(DENY_LISTS) as [DenyList, DenyMember][]; // of a table whose names are closed
  return Object.fromEntries(entries.map(([list, member]) => [list, make(list, member)])) as Record<DenyList, T>;
}

/** A list of what is refused; off keeps it. */
interface ListSettings {
  readonly isOn: boolean;
  readonly entries: readonly string[];
}

export const DEFAULT_SETTINGS: DomainSettings = {
  originProtocol: 'http',
  origins: [],
  backups: [],
  originHost: '',
  monitorUrl: '',
  ...defaultsOf(SWITCHES),
  ...defaultsOf(VALIDITIES),
  forbidHttpCode: '',
  forbidRedirectUrl: '',
  html403: '',
  sslKey: '',
  secondSslKey: '',
  https: defaultsOf(HTTPS_SETTINGS),
  cache: defaultsOf(CACHE_SETTINGS),
  caching: { followsOrigin: true, policies: [] },
  referer: { mode: 'off', allowsBlank: true, entries: [] },
  ...eachDenyList((): ListSettings => ({ isOn: false, entries: [] })),
  recording: { isOn: false, days: 7 },
  addressLists: { denied: [], allowed: [] },
  signing: { isOn: false, validSeconds: 1800, paths: [] },
  ...NO_RULES,
};

export interface Domain {
  /** Positive, below 2^31, never reused. */
  readonly id: number;
  readonly accountId: number;
  /** Lower-case ASCII; a wildcard begins with `*.`. */
  readonly name: string;
  readonly type: AccelerationType;
  readonly icpNumber: string;
  readonly remark: string;
  readonly state: DomainState;
  readonly createdAt: number;
  /** Revision of the last *setting change*; what edges must acknowledge before the domain reads as accelerating. */
  readonly settingRevision: number;
  /** Edges refuse its viewers, since its account is over its bandwidth; absent: they do not. */
  readonly isLimited?: boolean;
  /** Why its review was rejected, in words of the operator; absent: it is not rejected, or no reason was given. */
  readonly rejectReason?: string;
  readonly settings: DomainSettings;
}

/**
 * What is stored. Codes on the wire: open is 1 or 2 (derived, see `acknowledgement.ts`), pending 1, closed 0, rejected 5,
 * disabled 6.
 */
export type DomainState = (typeof DOMAIN_STATES)[number];

export const DOMAIN_STATES = ['pending', 'open', 'closed', 'rejected', 'disabled'] as const;
