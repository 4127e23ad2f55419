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
/** Retention of statistics. */
const KEEP_DAYS = { minute: 7, hour: 90, day: 3 * 365, top: 90, report: 30 } as const;
const PARTS_AT_ONCE = 500;

/** Resolves when nothing is left that is too old at `now`; a part whose bytes cannot be deleted keeps its row, for the next time. */
export async function forgetOldTraffic(options: RetentionOptions, now: number, signal: AbortSignal): Promise<void> {
  const { db, timeZone, logDays } = options;
  const ago = (days: number) => now - days * DAY_MS;
  const { minute, hour, day, top, report } = KEEP_DAYS;
  await pruneStatistics(db.query, {
    minute: ago(minute),
    hour: ago(hour),
    day: ago(day),
    top: ago(top),
    report: ago(report),
  });
  await deleteParts(options, createDays(timeZone).dayBefore(now, logDays), signal);
}

/** One that cannot be deleted keeps none of the others. Rejects in the end with the first reason. */
async function deleteParts({ db, blobs }: RetentionOptions, before: string, signal: AbortSignal): Promise<void> {
  const failures: unknown[] = [];
  let after = '';
  for (;;) {
    signal.throwIfAborted();
    const keys = await listLogPartsBefore(db.query, { day: before, after, limit: PARTS_AT_ONCE });
    const deleted: string[] = [];
    for (const key of keys) {
      try {
        const checked = blobKey(key);
        if (checked !== undefined) await blobs.delete(checked);
        deleted.push(key);
      } catch (error) {
        failures.push(error);
      }
    }
    await deleteLogParts(db.query, deleted);
    const last = keys.at(-1);
    if (last === undefined) break;
    after = last;
  }
  if (failures.length > 0) throw new Error(`${failures.length} log files could not be deleted`, { cause: failures[0] });
}
