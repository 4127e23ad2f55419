/** The secrets of customers that an edge has had. */

/** A domain that the edge has had, with its secrets as they are now. */
export interface ExposedDomain {
  readonly domainId: number;
  readonly name: string;
  readonly accountId: number;
  /** Keys of the certificates whose private keys the edge has had, and that the domain still uses. */
  readonly certificates: readonly string[];
  /** Whether the edge has had the domain's keys for publishing and playing live streams, and they are unchanged. */
  readonly hasLiveKeys: boolean;
}

export interface EdgeExposure {
  /** Group of the edge. */
  readonly group: string;
  /** Epoch milliseconds; `undefined`: it still gets new secrets. */
  readonly revokedAt: number | undefined;
  /** Number of domains on all pages. */
  readonly total: number;
  readonly domains: readonly ExposedDomain[];
}
