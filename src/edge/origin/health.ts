/** What the edge has learnt about origins from its own requests. Active probes are not here yet. */
import { Lru } from '#lib/lru.ts';
import type { OriginFailure } from '../reasons.ts';

/** Consecutive failures to connect or to answer in time after which an origin is passed over. */
const FAILURES_UNTIL_DOWN = 3;
/** How long it is passed over before requests try it again; one more failure then marks it anew. */
const DOWN_MS = 10_000;
const MAX_ORIGINS = 10_000;

export interface OriginHealth {
  isDown(origin: string, now: number): boolean;
  /** A response of any status: the origin is there. */
  noteAnswer(origin: string): void;
  noteFailure(origin: string, failure: OriginFailure, now: number): void;
}

/** `origin` is `host:port`: what listens there is the same for every site. */
export function createOriginHealth(): OriginHealth {
  // Only origins that failed lately are in it; the others are up.
  const failing = new Lru<string, { readonly failures: number; readonly downUntil: number }>({
    maxWeight: MAX_ORIGINS,
  });
  return {
    isDown: (origin, now) => {
      const leftMs = (failing.get(origin)?.downUntil ?? 0) - now;
      return leftMs > 0 && leftMs <= DOWN_MS; // longer: the clock was set back
    },
    noteAnswer: (origin) => void failing.delete(origin),
    noteFailure: (origin, failure, now) => {
      if (!countsAgainstHealth(failure)) return;
      const failures = (failing.get(origin)?.failures ?? 0) + 1;
      failing.set(origin, { failures, downUntil: failures >= FAILURES_UNTIL_DOWN ? now + DOWN_MS : 0 });
    },
  };
}

/** What a customer's wrong setting causes would mark the address down for others too. */
function countsAgainstHealth(failure: OriginFailure): boolean {
  return failure === 'originConnect' || failure === 'originConnectTimeout' || failure === 'originTimeout';
}
