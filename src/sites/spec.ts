/**
 * A domain as it travels to the edges: plain JSON, made by `api/settings/change.ts`, carried by `feed/`, compiled by
 * `compile.ts`. A new member must have a meaning when it is absent: edges of the previous release send none.
 */
import type { AccelerationType, CachePolicy, DenyMember, OriginProtocol } from '#model/domain.ts';
import type { PathRule, RuleLists } from '#model/rules.ts';
import type { CacheSettings, HttpsSettings, SiteSettings } from '#model/settings.ts';

/** Absent plain settings have their defaults of `model/settings.ts`; absent lists of rules are empty. */
export interface SiteSpec extends Partial<SiteSettings>, Partial<RuleLists> {
  /** The domain's id, which is never reused. Cache keys and statistics use it instead of the name. */
  readonly id: number;
  /** Lower-case ASCII; `*.example.com` covers any depth below, never the apex. */
  readonly name: string;
  readonly type: AccelerationType;
  /** Anything but `open` is refused at the edge, without contact to an origin: `accountLimit` with 503, others with 403. */
  readonly state: 'open' | 'closed' | 'rejected' | 'disabled' | 'accountLimit';
  readonly origins: OriginsSpec;
  readonly cache?: Partial<CacheSettings>;
  /** Absent: the origin's headers rule. */
  readonly caching?: CachingSpec;
  /** Absent: everyone is let in. */
  readonly access?: AccessSpec;
  /** Absent: no URL needs a signature. */
  readonly signing?: SigningSpec;
  /** Whether the live process records the domain's streams; absent: it does not. */
  readonly records?: boolean;
  /** Absent: no HTTPS. */
  readonly tls?: TlsSpec;
}

export interface TlsSpec extends Partial<HttpsSettings> {
  /** The certificate's `ssl_key`: under it an edge finds chain and key. */
  readonly certificate: string;
  /** Another one, with another kind of key. Absent: none. */
  readonly secondCertificate?: string;
}

/** The domain's keys come with its keys of live streams. */
export interface SigningSpec {
  readonly validSeconds: number;
  /** What needs a signature; empty: everything. */
  readonly paths: readonly PathRule[];
}

/** Edge rule 4 */
export interface CachingSpec {
  /** True: policies only fill in where the origin names no lifetime; false: they replace it, and without one nothing is stored. */
  readonly followsOrigin: boolean;
  /** Prefix policies go before all others. */
  readonly prefixFirst: boolean;
  /** Policies in the customer's order: of equal ones the earlier wins. */
  readonly policies: readonly PolicySpec[];
}

/** A policy, its content as the customer wrote it. Neither stored nor served from the store without `isCached`, or without a lifetime. */
export interface PolicySpec extends Omit<CachePolicy, 'time'> {
  /** Lifetime as the customer asked for it; more than a year counts as a year. */
  readonly lifetimeSeconds: number;
}

/** Each list in the spelling that `sites/` normalizes it to. Edge rule 6 */
export interface AccessSpec extends Partial<Readonly<Record<DenyMember, readonly string[]>>> {
  readonly referer?: {
    /** `deny`: those on the list are refused; `allow`: all others are. */
    readonly mode: 'deny' | 'allow';
    /** Whether a request without a (usable) Referer is let in. */
    readonly allowsBlank: boolean;
    readonly entries: readonly string[];
  };
  /** Keys of lists: clients on any of them are refused. */
  readonly deniedLists?: readonly string[];
  /** Keys of lists: clients on none of them are refused. */
  readonly allowedLists?: readonly string[];
  /** Absent: a plain 403. */
  readonly refusal?: RefusalSpec;
}

export type RefusalSpec =
  | { readonly kind: 'page'; readonly html: string }
  /** 302 to an absolute URL. */
  | { readonly kind: 'redirect'; readonly url: string };

export interface OriginsSpec {
  readonly protocol: OriginProtocol;
  readonly primary: readonly OriginSpec[];
  /** Asked only when no primary is usable. */
  readonly backup: readonly OriginSpec[];
  /** Host header and SNI; empty means the requested host (which for an ordinary domain is its name). */
  readonly hostHeader: string;
  /** Path and query of the health probe; empty means none. */
  readonly probePath: string;
  /** Host of the probe on a wildcard domain without a host header; absent: there is none, so a connection has to do. */
  readonly probeHost?: string;
}

export interface OriginSpec {
  /** ASCII name, or an IP literal without brackets. */
  readonly host: string;
  /** Absent: the scheme's default. */
  readonly port?: number;
}
