/**
 * Decides which origins a worker passes over, by the failures of its own requests and by reports of the machine's
 * probes. Edge rule 2, docs/decisions/0132
 */
import { Lru } from '#lib/lru.ts';
import type { OriginFailure } from '../reasons.ts';
import type { OriginCandidate } from './choose.ts';
import type { ProbeReport } from './probe-schedule.ts';

/** Consecutive failures to connect, or to answer in time, after which an origin is passed over. */
const FAILURES_UNTIL_DOWN = 3;
/** Time before requests try a failed origin again; one more failure then marks it again. */
const DOWN_MS = 10_000;
const MAX_ORIGINS = 10_000;
/** Time for which a probe report is valid: three reports may be lost. */
const REPORT_MS = 30_000;

type Asked = Pick<OriginCandidate, 'key' | 'slowKey' | 'destination' | 'probe'>;

export interface OriginHealth {
  isDown(origin: Asked, now: number): boolean;
  /** Called for a response of any status: the origin is reachable. */
  noteAnswer(origin: Asked): void;
  noteFailure(origin: Asked, failure: OriginFailure, now: number): void;
  /** Replaces the last report of the probes by a newer one. */
  applyReport(report: ProbeReport, now: number): void;
}

export function createOriginHealth(): OriginHealth {
  // Whether an address is reachable is the same for every site; how fast it answers depends on the requests.
  const unreachable = createMarks();
  const slow = createMarks();
  let probed: { readonly down: ReadonlySet<string>; readonly at: number } = { down: new Set(), at: 0 };
  return {
    isDown: (origin, now) =>
      unreachable.isSet(origin.key, now) ||
      slow.isSet(origin.slowKey, now) ||
      (probed.down.has(origin.probe.key) && isWithin(now - probed.at, REPORT_MS)),
    noteAnswer: (origin) => {
      unreachable.clear(origin.key);
      slow.clear(origin.slowKey);
    },
    noteFailure: (origin, failure, now) => {
      const isHandshake = failure === 'originConnectTimeout' && origin.destination.serverName !== undefined;
      // Other failures may be caused by a customer's settings and say nothing about the address.
      if (failure === 'originTimeout' || isHandshake) slow.note(origin.slowKey, now);
      else if (failure === 'originConnect' || failure === 'originConnectTimeout') unreachable.note(origin.key, now);
    },
    applyReport: ({ down, up }, now) => {
      probed = { down: new Set(down), at: now };
      for (const address of up) unreachable.clear(address);
    },
  };
}

/** Marks for consecutive failures. Only recent failures are kept. */
function createMarks() {
  const failing = new Lru<string, { readonly failures: number; readonly markedAt: number }>({ maxWeight: MAX_ORIGINS });
  return {
    isSet: (key: string, now: number) =>
      isWithin(now - (failing.get(key)?.markedAt ?? Number.NEGATIVE_INFINITY), DOWN_MS),
    clear: (key: string) => void failing.delete(key),
    note: (key: string, now: number) => {
      const failures = (failing.get(key)?.failures ?? 0) + 1;
      failing.set(key, { failures, markedAt: failures >= FAILURES_UNTIL_DOWN ? now : Number.NEGATIVE_INFINITY });
    },
  };
}

/** False if the clock was set back behind the start. */
function isWithin(passedMs: number, limitMs: number): boolean {
  return passedMs >= 0 && passedMs < limitMs;
}
