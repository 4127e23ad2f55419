/** The compiled, immutable form of a domain that the edge works with. Made by `compile.ts` only. */
import type { OriginSpec, SiteSpec } from './spec.ts';

export interface Site {
  readonly id: number;
  readonly name: string;
  /** True for `*.…` names. */
  readonly isWildcard: boolean;
  readonly type: SiteSpec['type'];
  readonly state: SiteSpec['state'];
  /** Revision of the spec it was compiled from. */
  readonly revision: number;
  readonly origins: SiteOrigins;
}

export interface SiteOrigins {
  readonly protocol: 'http' | 'https' | 'follow';
  readonly primary: readonly OriginSpec[];
  readonly backup: readonly OriginSpec[];
  readonly hostHeader: string;
  readonly probePath: string;
}
