/** Sends the status of an edge to control. Reports do not overlap. */
import { setTimeout as delay } from 'node:timers/promises';
import { type Backoff, backoffDelayMs } from '#lib/backoff.ts';
import type { Logger } from '#lib/logger.ts';
import { createSharedRuns } from '#lib/shared-runs.ts';
import type { EdgeStatus } from '#model/edge.ts';
import type { FeedPosition } from '#model/feed-position.ts';
import { UNKNOWN_POSITION } from '../wire/protocol.ts';
import { FeedRefusal } from './feed-request.ts';

/** Retries of a report that did not reach control, while the stream of the feed is open. */
const RETRY: Backoff = { firstMs: 200, capMs: 5000 };

export interface StatusReporterOptions {
  /** Sends a report; rejects with `FeedRefusal` if control refuses it. */
  readonly send: (status: EdgeStatus) => Promise<void>;
  /** Describes this edge at the position that every worker runs. */
  readonly describe: (applied: FeedPosition) => EdgeStatus;
  /** Checks the store; true if its content was lost, so that there is nothing to report yet. */
  readonly repair: () => boolean;
  /** Shortest time between two reports: the first of many changes is reported at once, the others together. */
  readonly intervalMs: number;
  /** Whether control has an open stream to this edge. Without one, only the next call sends again. */
  readonly isConnected: () => boolean;
  readonly log: Logger;
}

export interface StatusReporter extends AsyncDisposable {
  /** Position that every worker runs; `undefined`: none is known, and nothing is reported. */
  setApplied(applied: FeedPosition | undefined): void;
  /** Sends a report soon; later changes are in the next. */
  reportSoon(): void;
  /**
   * Sends a report soon if control has none of the last `ageMs` milliseconds. Each report holds up the next one for a
   * round trip. docs/decisions/0513
   */
  refresh(ageMs: number): void;
}

export function createStatusReporter(options: StatusReporterOptions): StatusReporter {
  const { send, describe, repair, intervalMs, isConnected, log } = options;
  const stop = new AbortController();
  let applied: FeedPosition | undefined;
  let reporting: Promise<void> | undefined;
  let isDue = false;
  /** The next report is sent no earlier. */
  let notBefore = Number.NEGATIVE_INFINITY;
  let failures = 0;
  /** When the last report that control has was described. */
  let describedAt = Number.NEGATIVE_INFINITY;
  let failure: ReportFailure | 'none' = 'none';

  const reportAll = async () => {
    while (isDue && applied !== undefined && !stop.signal.aborted) {
      const waitMs = notBefore - performance.now();
      if (waitMs > 0) await delay(waitMs, undefined, { signal: stop.signal }).catch(() => undefined); // a stop
      isDue = false;
      const startedAt = performance.now();
      notBefore = startedAt + intervalMs;
      try {
        if (repair() || applied === undefined) continue;
        await send(describe(applied));
        failure = 'none';
        failures = 0;
        describedAt = startedAt;
      } catch (error) {
        noteFailure(error);
        if (failure === 'unreachable' && isConnected()) retryLater();
      }
    }
  };
  const retryLater = () => {
    failures += 1;
    notBefore = performance.now() + Math.max(intervalMs, backoffDelayMs(RETRY, failures, Math.random()));
    isDue = true;
  };
  const runReports = createSharedRuns(reportAll);
  const reportSoon = () => {
    isDue = true;
    reporting = runReports();
  };
  /** Logs each kind of failure once. */
  const noteFailure = (error: unknown) => {
    const now = failureOf(error);
    if (now !== failure) {
      if (now === 'refused') log.error({ err: error }, 'control rejects the reports of this edge');
      else if (now === 'restored') log.warn("control's database was restored or replaced; requesting a snapshot");
      else log.debug({ err: error }, 'cannot send the status report to control; retrying');
    }
    failure = now;
  };
  return {
    setApplied(position) {
      applied = position;
    },
    reportSoon,
    refresh(ageMs) {
      if (performance.now() - describedAt >= ageMs) reportSoon();
    },
    async [Symbol.asyncDispose]() {
      stop.abort();
      await reporting;
    },
  };
}

type ReportFailure = 'refused' | 'restored' | 'unreachable';

function failureOf(error: unknown): ReportFailure {
  if (!(error instanceof FeedRefusal)) return 'unreachable';
  if (error.status === 403) return 'refused';
  if (error.status !== 409) return 'unreachable';
  return error.reason === UNKNOWN_POSITION ? 'restored' : 'refused';
}
