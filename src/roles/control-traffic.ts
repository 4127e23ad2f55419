/** What control does with the traffic that edges tell: keeps it, and forgets it in time. */
import type { Config } from '#config';
import type { Db } from '#db/open.ts';
import { MessageError } from '#feed/messages.ts';
import type { TrafficTaker } from '#feed/server.ts';
import { systemClock } from '#lib/clock.ts';
import type { Logger } from '#lib/logger.ts';
import { startRounds } from '#lib/rounds.ts';
import { createTraffic } from '#logs/receive.ts';
import { MAX_PART_BYTES, MAX_REPORT_BYTES, parsePart, parseReport } from '#logs/report.ts';
import { forgetOldTraffic } from '#logs/retention.ts';
import type { BlobStore } from '#logs/store/blob-store.ts';
import { localBlobStore } from '#logs/store/local.ts';
import { s3BlobStore } from '#logs/store/s3.ts';

interface ControlTraffic extends AsyncDisposable {
  readonly taker: TrafficTaker;
}

const FORGET_EVERY_MS = 3_600_000;

export function openBlobStore({ logStore }: Pick<Config, 'logStore'>): BlobStore {
  return logStore.kind === 'local' ? localBlobStore(logStore.directory) : s3BlobStore(logStore, systemClock);
}

export function openControlTraffic(
  config: Pick<Config, 'logStore' | 'logDays' | 'timeZone'>,
  db: Db,
  log: Logger,
): ControlTraffic {
  const { logDays, timeZone } = config;
  const blobs = openBlobStore(config);
  const traffic = createTraffic({ db, blobs, timeZone, clock: systemClock });
  const forgetting = startRounds({
    everyMs: FORGET_EVERY_MS,
    work: (signal) => forgetOldTraffic({ db, blobs, timeZone, logDays }, systemClock(), signal),
    onFailure: (error) => {
      if (!forgetting.signal.aborted) log.error({ err: error }, 'old log files were not deleted; trying again later');
    },
  });
  return {
    taker: {
      maxPartBytes: MAX_PART_BYTES,
      maxReportBytes: MAX_REPORT_BYTES,
      takePart: (body) => traffic.takePart(required('part of a log', parsePart(body))),
      takeReport: (body) => traffic.takeReport(required('report of traffic', parseReport(body))),
    },
    [Symbol.asyncDispose]: () => forgetting[Symbol.asyncDispose](),
  };
}

function required<T>(what: string, value: T | undefined): T {
  if (value === undefined) throw new MessageError(`expected a ${what}`);
  return value;
}
