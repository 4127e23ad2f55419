/** Which origins a worker passes over: by what its own requests met, and by what the machine's probes say. Edge rule 2, docs/decisions/0132 */
import { Lru } from '#lib/lru.ts';
import type { OriginFailure } from '../reasons.ts';
import type { OriginCandidate } from './choose.ts';
import type { ProbeReport } from './probe-schedule.ts';

/** Consecutive failures to connect, or to answer in time, after which an origin is passed over. */
const FAILURES_UNTIL_DOWN = 3;
/** How long it is passed over before requests try it again; one more failure then marks it anew. */
const DOWN_MS = 10_000;
const MAX_ORIGINS = 10_000;
/** A report of the probes holds for so long: three of them may be lost. */
const REPORT_MS = 30_000;

type Asked = Pick<OriginCandidate, 'key' | 'slowKey' | 'destination' | 'probe'>;

export interface OriginHealth {
  isDown(origin: Asked, now: number): boolean;
  /** A response of any status: the origin is there. */
  noteAnswer(origin: Asked): void;
  noteFailure(origin: Asked, failure: OriginFailure, now: number): void;
  /** What the probes have found since the last report. */
  applyReport(report: ProbeReport, now: number): void;
}

export function createOriginHealth(): OriginHealth {
  // What listens at an address is the same for every site; how fast it answers is a matter of what it is asked for, and how.
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
      // What else a customer's wrong setting causes says nothing about the address.
      if (failure === 'originTimeout' || isHandshake) slow.note(origin.slowKey, now);
      else if (failure === 'originConnect' || failure === 'originConnectTimeout') unreachable.note(origin.key, now);
    },
    applyReport: ({ down, up }, now) => {
      probed = { down: new Set(down), at: now };
      for (const address of up) unreachable.clear(address);
    },
  };
}

/** Failures in a row. Only what failed lately is in it. */
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

/** Not when the clock was set back behind the beginning. */
function isWithin(passedMs: number, limitMs: number): boolean {
  return passedMs >= 0 && passedMs < limitMs;
}
