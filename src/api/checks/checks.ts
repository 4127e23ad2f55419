/** What checks of domains need besides the database. */
import { getServers } from 'node:dns';
import type { Clock } from '#lib/clock.ts';
import { TokenBuckets } from '#lib/token-bucket.ts';
import type { OriginCheck } from '#sites/origin-check.ts';
import type { SiteSpec } from '#sites/spec.ts';

export type CheckOrigin = (spec: SiteSpec) => Promise<OriginCheck>;

export interface Checks {
  /** Name servers that are asked. */
  resolvers(): readonly string[];
  readonly checkOrigin: CheckOrigin;
  /** Takes the domain's turn. Returns how long it has to wait if it cannot. */
  takeTurn(domainId: number): number;
}

export interface CheckOptions {
  /** Name servers; none: those of this machine. */
  readonly resolvers: readonly string[];
  readonly checkOrigin: CheckOrigin;
}

/** One check of a domain in 5 s. */
const TURN_MS = 5_000;
const MAX_DOMAINS = 100_000;

export function createChecks({ resolvers, checkOrigin }: CheckOptions, steadyClock: Clock): Checks {
  const turns = new TokenBuckets({ perSecond: 1000 / TURN_MS, burst: 1, maxKeys: MAX_DOMAINS });
  return {
    resolvers: () => (resolvers.length > 0 ? resolvers : getServers()),
    checkOrigin,
    takeTurn: (domainId) => {
      const taken = turns.take(String(domainId), steadyClock());
      return taken.kind === 'taken' ? 0 : taken.waitMs;
    },
  };
}
