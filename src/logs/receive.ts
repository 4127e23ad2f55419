/** Control's side of traffic reports: stores each part of a log and each report once, even if it arrives twice. */
import type { Db } from '#db/open.ts';
import { hasLogPart, insertLogPart } from '#db/tables/log-parts.ts';
import { addTop } from '#db/tables/statistics.ts';
import type { Clock } from '#lib/clock.ts';
import { HOUR_MS } from '#lib/durations.ts';
import { createDays } from './day.ts';
import { listStarts, NO_DOMAIN, SKEW_MS } from './owners.ts';
import { formatPartKey, type LogPart, type StatisticsReport, TOP_KINDS, type Top } from './report.ts';
import { type BlobKey, type BlobStore, blobKey } from './store/blob-store.ts';
import { gatherReports } from './sum-reports.ts';

export interface TrafficOptions {
  readonly db: Db;
  readonly blobs: BlobStore;
  readonly timeZone: string;
  readonly clock: Clock;
}

/** `group`: of the edge that sends it; absent for an edge of control's machine. */
export interface Traffic {
  takePart(part: LogPart, group?: string): Promise<void>;
  /** Resolves when the report is stored durably, or at once with `crowded` if too many are waiting. */
  takeReport(report: StatisticsReport, group?: string): Promise<'added' | 'crowded'>;
}

const NO_TOP: Top = { url: [], referer: [], client: [], status: [] };
/** Top entries of each kind, domain and hour. */
const KEEP_TOP = 100;

export function createTraffic({ db, blobs, timeZone, clock }: TrafficOptions): Traffic {
  const reports = gatherReports({ db, days: createDays(timeZone), clock });
  return {
    async takePart(sent, group) {
      const part = await withOwner(db, sent, group);
      const key = blobKeyOf(part);
      if (await hasLogPart(db.query, key)) return;
      // First the bytes: a row whose blob is missing would be a file that cannot be downloaded.
      await blobs.put(key, part.gzip);
      await addPart(db, { ...part, bytes: part.gzip.length }, clock());
    },
    takeReport: (report, group) => reports.perform({ report, group }, report.minutes.length),
  };
}

/** Adds the row of a part whose bytes are stored, and its most frequent values, unless they were added before. */
export async function addPart(
  db: Db,
  part: Omit<LogPart, 'gzip'> & { readonly bytes: number },
  now: number,
): Promise<void> {
  const { bytes, lines, firstAt, top } = part;
  const { domainId, day } = part.key;
  await db.transaction(async (trx) => {
    if (!(await insertLogPart(trx, { key: blobKeyOf(part), domainId, day, bytes, lines }, now))) return;
    const at = Math.floor(firstAt / HOUR_MS) * HOUR_MS;
    for (const kind of TOP_KINDS) await addTop(trx, { domainId, at, kind }, top[kind], KEEP_TOP);
  });
}

/** Assigns a part to no domain, without most frequent values, if it is not of its domain. */
export async function withOwner<Part extends Pick<LogPart, 'key' | 'firstAt'>>(
  db: Db,
  part: Part,
  group: string | undefined,
): Promise<Part> {
  const { domainId, file } = part.key;
  const starts = await listStarts(db, [domainId], group);
  const startsAt = starts.get(domainId) ?? Number.POSITIVE_INFINITY;
  if (domainId === NO_DOMAIN || part.firstAt >= startsAt - SKEW_MS) return part;
  return {
    ...part,
    key: { ...part.key, domainId: NO_DOMAIN, file: `${file}.of-${domainId}` },
    ...('top' in part && { top: NO_TOP }),
  };
}

export function blobKeyOf({ key }: Pick<LogPart, 'key'>): BlobKey {
  const text = formatPartKey(key);
  const checked = blobKey(text);
  if (checked === undefined) throw new Error(`not a key of a log part: ${text}`);
  return checked;
}
