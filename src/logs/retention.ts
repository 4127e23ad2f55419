/** Forgets log files and statistics when their time is over. */
import { deleteLogParts, listLogPartsBefore } from '#db/log-parts.ts';
import type { Db } from '#db/open.ts';
import { pruneStatistics } from '#db/statistics.ts';
import { createDays } from './day.ts';
import { type BlobStore, blobKey } from './store/blob-store.ts';

export interface RetentionOptions {
  readonly db: Db;
  readonly blobs: BlobStore;
  readonly timeZone: string;
  /** Days of log files that are kept beside today's. */
  readonly logDays: number;
}

const DAY_MS = 24 * 3_600_000;
/** Of statistics. */
const KEEP_DAYS = { minute: 7, hour: 90, day: 3 * 365, top: 90, report: 30 } as const;
const PARTS_AT_ONCE = 500;

/** Resolves when nothing is left that is too old at `now`. A part whose bytes cannot be deleted keeps its row, for the next time. */
export async function forgetOldTraffic(options: RetentionOptions, now: number, signal: AbortSignal): Promise<void> {
  const { db, blobs, timeZone, logDays } = options;
  const before = createDays(timeZone).dayOf(now - logDays * DAY_MS);
  for (;;) {
    signal.throwIfAborted();
    const keys = await listLogPartsBefore(db.query, before, PARTS_AT_ONCE);
    if (keys.length === 0) break;
    for (const key of keys.map(blobKey)) if (key !== undefined) await blobs.delete(key);
    await deleteLogParts(db.query, keys);
  }
  const ago = (days: number) => now - days * DAY_MS;
  const { minute, hour, day, top, report } = KEEP_DAYS;
  await pruneStatistics(db.query, {
    minute: ago(minute),
    hour: ago(hour),
    day: ago(day),
    top: ago(top),
    report: ago(report),
  });
}
