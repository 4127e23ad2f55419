/** What checks of domains need besides the database. */
import { getServers } from 'node:dns';
import { ServiceError } from '#contract/errors/service-error.ts';
import type { Clock } from '#lib/clock.ts';
import { TokenBuckets } from '#lib/token-bucket.ts';
import type { Domain } from '#model/domain.ts';
import type { OriginCheck } from '#sites/origin-check.ts';
import type { SiteSpec } from '#sites/spec.ts';

export type CheckOrigin = (spec: SiteSpec) => Promise<OriginCheck>;

export interface Checks {
  /** Name servers that are asked. */
  resolvers(): readonly string[];
  readonly checkOrigin: CheckOrigin;
  /** Begins a check, which ends when the result is disposed. Throws `ServiceError` if it has to wait. */
  begin(domain: Pick<Domain, 'id' | 'accountId'>): Disposable;
  /** Takes an account's turn of trying an origin. Returns how long it has to wait if it cannot. */
  takeProbe(accountId: number): number;
}

export interface CheckOptions {
  /** Name servers; none: those of this machine. */
  readonly resolvers: readonly string[];
  readonly checkOrigin: CheckOrigin;
}

/** One check of a domain in 5 s. */
const TURN_MS = 5_000;
const MAX_DOMAINS = 100_000;
/** Checks under way of one account, and of all. Each takes up to some 10 s, and sockets. */
const MAX_OF_ACCOUNT = 5;
const MAX_IN_ALL = 50;

/** Origins that an account may try in a minute. */
export const PROBES_PER_MINUTE = 10;
const MAX_ACCOUNTS = 100_000;

export function createChecks({ resolvers, checkOrigin }: CheckOptions, steadyClock: Clock): Checks {
  const turns = new TokenBuckets({ perSecond: 1000 / TURN_MS, burst: 1, maxKeys: MAX_DOMAINS });
  const probes = new TokenBuckets({
    perSecond: PROBES_PER_MINUTE / 60,
    burst: PROBES_PER_MINUTE,
    maxKeys: MAX_ACCOUNTS,
  });
  /** Accounts of the checks under way. */
  const underWay: number[] = [];
  return {
    resolvers: () => (resolvers.length > 0 ? resolvers : getServers()),
    checkOrigin,
    begin: ({ id, accountId }) => {
      const ofAccount = underWay.filter((each) => each === accountId).length;
      if (ofAccount >= MAX_OF_ACCOUNT || underWay.length >= MAX_IN_ALL)
        throw new ServiceError('tooManyRequests', { seconds: TURN_MS / 1000 });
      const taken = turns.take(String(id), steadyClock());
      if (taken.kind === 'empty') throw new ServiceError('checkTooSoon', { seconds: Math.ceil(taken.waitMs / 1000) });
      underWay.push(accountId);
      return { [Symbol.dispose]: () => void underWay.splice(underWay.indexOf(accountId), 1) };
    },
    takeProbe: (accountId) => {
      const taken = probes.take(String(accountId), steadyClock());
      return taken.kind === 'taken' ? 0 : taken.waitMs;
    },
  };
}
