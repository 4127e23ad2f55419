/**
 * An accelerated domain as we store it and speak of it. The wire's names and codes are in `contract/` and `api/wire.ts`;
 * what an edge needs of it is a `SiteSpec` (`sites/spec.ts`).
 */

/** static, download, on-demand video, live, dynamic: the wire's 1, 2, 3, 4, 6. */
export type AccelerationType = 'static' | 'download' | 'video' | 'live' | 'dynamic';

/** `follow`: the origin is asked with the scheme that the client used. */
export type OriginProtocol = 'http' | 'https' | 'follow';

/** Everything that a customer can set on a domain. Stored as one JSON text; a missing member reads as its default. */
export interface DomainSettings {
  readonly originProtocol: OriginProtocol;
  /** Primary origins as the customer wrote them (`host`, `host:port`, `IP:port`, `[v6]:port`), in order. */
  readonly origins: readonly string[];
  readonly backups: readonly string[];
  /** Host header and SNI towards the origin; empty means the domain itself (for a wildcard: the requested host). */
  readonly originHost: string;
  /** Only its path and query are used; empty means no probe. */
  readonly monitorUrl: string;
  readonly ignoresQuery: boolean;
  readonly prefixCacheFirst: boolean;
  readonly redirectFollow: boolean;
  readonly pageCompress: boolean;
  readonly rangeBackSource: boolean;
  /** Browser cache validity; 0 leaves the origin's headers. docs/decisions/0003 */
  readonly expiresSeconds: number;
  /** Validity of a preflight's result; 0 leaves the origin's header. docs/decisions/0003 */
  readonly accessControlMaxAgeSeconds: number;
  /** The edge's own refusal: a plain 403, the customer's page, or a redirect. */
  readonly forbidHttpCode: '' | '302' | '403';
  readonly forbidRedirectUrl: string;
  readonly html403: string;
  readonly sslControl: boolean;
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
  readonly userAgent: ListSettings;
  readonly ip: ListSettings;
  readonly recording: RecordingSettings;
}

/** Applies to live domains. docs/decisions/0503 */
interface RecordingSettings {
  readonly isOn: boolean;
  /** How long recordings are kept after their last media; it also counts for those that were made before, and while it is off. */
  readonly days: number;
}

/** Settings of a domain that has a certificate; kept while it has none. */
interface HttpsSettings {
  /** Plain HTTP is redirected to HTTPS. */
  readonly forceHttps: boolean;
  /** 0: clients are not told. */
  readonly hstsMaxAgeSeconds: number;
  readonly minVersion: '1.2' | '1.3';
}

/** Cache policies, in the customer's order. Edge rule 4 */
export interface CachingSettings {
  /** `use_header_setting`. */
  readonly followsOrigin: boolean;
  readonly policies: readonly CachePolicy[];
}

export interface CachePolicy {
  readonly match: 'prefix' | 'suffix' | 'regex';
  /** Content as written. */
  readonly content: string;
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

/** A list of what is refused; off keeps it. */
export interface ListSettings {
  readonly isOn: boolean;
  readonly entries: readonly string[];
}

/** What a customer chooses about caching beyond the interface document. */
export interface CacheSettings {
  /** A response with a cookie: never stored, stored with it when its freshness is explicit, or stored without it. */
  readonly setCookie: 'bypass' | 'store' | 'strip';
  /** Whether a viewer's own cache directives count. */
  readonly requestDirectives: boolean;
  /** Longest lifetime without an explicit one; 0: none. */
  readonly heuristicCapSeconds: number;
  /** Time past its expiry for which a response may be served when no origin can be reached; 0: never. */
  readonly staleCapSeconds: number;
  /** Whether values of varying headers that mean the same are one variant. */
  readonly normalizeVary: boolean;
  /** Whether a stored response in the viewer's one preferred language does without asking the origin. */
  readonly matchLanguage: boolean;
}

export const DEFAULT_SETTINGS: DomainSettings = {
  originProtocol: 'http',
  origins: [],
  backups: [],
  originHost: '',
  monitorUrl: '',
  ignoresQuery: false,
  prefixCacheFirst: false,
  redirectFollow: false,
  pageCompress: false,
  rangeBackSource: false,
  expiresSeconds: 0,
  accessControlMaxAgeSeconds: 0,
  forbidHttpCode: '',
  forbidRedirectUrl: '',
  html403: '',
  sslControl: false,
  sslKey: '',
  secondSslKey: '',
  https: { forceHttps: false, hstsMaxAgeSeconds: 0, minVersion: '1.2' },
  cache: {
    setCookie: 'bypass',
    requestDirectives: false,
    heuristicCapSeconds: 3600,
    staleCapSeconds: 24 * 3600,
    normalizeVary: true,
    matchLanguage: false,
  },
  caching: { followsOrigin: true, policies: [] },
  referer: { mode: 'off', allowsBlank: true, entries: [] },
  userAgent: { isOn: false, entries: [] },
  ip: { isOn: false, entries: [] },
  recording: { isOn: false, days: 7 },
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
  readonly settings: DomainSettings;
}

/**
 * What is stored. Codes on the wire: open is 1 or 2 (derived, see `acknowledgement.ts`), pending 1, closed 0, rejected 5,
 * disabled 6.
 */
export type DomainState = (typeof DOMAIN_STATES)[number];

export const DOMAIN_STATES = ['pending', 'open', 'closed', 'rejected', 'disabled'] as const;
