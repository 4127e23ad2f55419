/** Deletes log files and statistics when their retention ends. */
import type { Db } from '#db/open.ts';
import { deleteLogParts, listLogPartsBefore } from '#db/tables/log-parts.ts';
import { pruneStatistics } from '#db/tables/statistics.ts';
import { DAY_MS } from '#lib/durations.ts';
import { BANDWIDTH_DAYS } from './bandwidth.ts';
import { createDays } from './day.ts';
import type { BlobStore } from './store/blob-store.ts';
import { deleteBlobs } from './store/delete-blobs.ts';

export interface RetentionOptions {
  readonly db: Db;
  readonly blobs: BlobStore;
  readonly timeZone: string;
  /** Days for which log files are kept besides today. */
  readonly logDays: number;
}

/** Retention of statistics in days. */
const KEEP_DAYS = { minute: 7, five: BANDWIDTH_DAYS.domains, hour: 90, day: 3 * 365, top: 90, report: 30 } as const;
const PARTS_AT_ONCE = 500;

/**
 * Resolves when everything that is too old at `now` is deleted. A part whose bytes cannot be deleted keeps its row for
 * the next time.
 */
export async function forgetOldTraffic(options: RetentionOptions, now: number, signal: AbortSignal): Promise<void> {
  const { db, blobs, timeZone, logDays } = options;
  const ago = (days: number) => now - days * DAY_MS;
  const { top, report, ...grains } = KEEP_DAYS;
  const ofDomains = {
    minute: ago(grains.minute),
    five: ago(grains.five),
    hour: ago(grains.hour),
    day: ago(grains.day),
  };
  const ofAccounts = { ...ofDomains, five: ago(BANDWIDTH_DAYS.accounts) };
  await pruneStatistics(db.query, { ofDomains, ofAccounts, top: ago(top), report: ago(report) });
  const day = createDays(timeZone).dayBefore(now, logDays);
  const files = {
    what: 'log files',
    list: (after: string) => listLogPartsBefore(db.query, { day, after, limit: PARTS_AT_ONCE }),
    forget: (keys: readonly string[]) => deleteLogParts(db.query, keys),
  };
  await deleteBlobs(blobs, files, signal);
}
