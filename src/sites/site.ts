/** The compiled, immutable form of a domain that the edge works with. Made by `compile.ts` only. */
import type { OriginProtocol } from '#model/domain.ts';
import type { CacheSettings, SiteSettings } from '#model/settings.ts';
import type { SiteAccess } from './access.ts';
import type { SiteCaching } from './caching.ts';
import type { SitePurges } from './purge.ts';
import type { SiteLimits } from './rate-limits.ts';
import type { SiteRedirects } from './redirects.ts';
import type { SiteHeaders } from './response-headers.ts';
import type { SiteSigning } from './signing.ts';
import type { OriginSpec, SiteSpec } from './spec.ts';
import type { SiteTls } from './tls.ts';

export interface Site extends SiteSettings {
  readonly id: number;
  readonly name: string;
  /** True for `*.…` names. */
  readonly isWildcard: boolean;
  readonly type: SiteSpec['type'];
  readonly state: SiteSpec['state'];
  /** Revision of the spec it was compiled from. */
  readonly revision: number;
  readonly origins: SiteOrigins;
  readonly cache: CacheSettings;
  readonly caching: SiteCaching;
  readonly access: SiteAccess;
  readonly rateLimits: SiteLimits | undefined;
  readonly redirects: SiteRedirects | undefined;
  readonly responseHeaders: SiteHeaders | undefined;
  /** Absent: no URL needs a signature. */
  readonly signing?: SiteSigning;
  /** The live process records its streams; absent: it does not. */
  readonly records?: true;
  /** Absent: no HTTPS. */
  readonly tls?: SiteTls;
  /** Absent when there are none; read them through `purgedAt`. */
  readonly purges?: SitePurges;
}

export interface SiteOrigins {
  readonly protocol: OriginProtocol;
  readonly primary: readonly SiteOrigin[];
  readonly backup: readonly SiteOrigin[];
  readonly hostHeader: string;
  readonly probePath: string;
  readonly probeHost?: string;
}

export interface SiteOrigin extends OriginSpec {
  /** True when `host` is an IP literal: there is nothing to resolve, and no certificate name to verify. */
  readonly isAddress: boolean;
}
