/** What the first origin of a site answered when it was asked once. */

export interface OriginCheck {
  /** `host:port`; empty: the site has no origin. */
  readonly origin: string;
  /** The address that was connected to; empty: none. */
  readonly address: string;
  /** Time until the connection was open, TLS included. */
  readonly connectMs: number;
  /** `TLSv1.3`; empty: without TLS. */
  readonly tls: string;
  /** 0: there was no answer. */
  readonly status: number;
  readonly isCacheable: boolean;
  /** A reason of `reasons.ts`; empty: there is nothing to say. */
  readonly why: string;
}
