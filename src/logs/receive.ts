/** Control's side of traffic reports: stores each part of a log and each report once, even if it arrives twice. */
import type { Db } from '#db/open.ts';
import { addAccountSums } from '#db/tables/account-sums.ts';
import { listDomainStarts } from '#db/tables/domains.ts';
import { findReportable } from '#db/tables/edge-groups.ts';
import { hasLogPart, insertLogPart } from '#db/tables/log-parts.ts';
import { addSums, addTop, claimReport, type Grain, type SumRow } from '#db/tables/statistics.ts';
import type { Clock } from '#lib/clock.ts';
import { HOUR_MS, MINUTE_MS } from '#lib/durations.ts';
import { addCounters, type Counters, type MinuteCounters } from './counters.ts';
import { createDays, type Days } from './day.ts';
import { formatPartKey, type LogPart, type StatisticsReport, TOP_KINDS, type Top } from './report.ts';
import { type BlobKey, type BlobStore, blobKey } from './store/blob-store.ts';

export interface TrafficOptions {
  readonly db: Db;
  readonly blobs: BlobStore;
  readonly timeZone: string;
  readonly clock: Clock;
}

/** `group`: of the edge that sends it; absent for an edge of control's machine. */
export interface Traffic {
  takePart(part: LogPart, group?: string): Promise<void>;
  takeReport(report: StatisticsReport, group?: string): Promise<void>;
}

/** How far the clock of an edge may be behind that of the machine which recorded a domain's creation. */
const SKEW_MS = MINUTE_MS;
/** Domain id of traffic that belongs to no domain. */
const NOBODY = 0;
const NO_TOP: Top = { url: [], referer: [], client: [], status: [] };
/** Top entries of each kind, domain and hour. */
const KEEP_TOP = 100;

export function createTraffic({ db, blobs, timeZone, clock }: TrafficOptions): Traffic {
  const days = createDays(timeZone);
  return {
    async takePart(sent, group) {
      const part = await withOwner(db, sent, group);
      const key = keyOf(part);
      if (await hasLogPart(db.query, key)) return;
      // First the bytes: a row whose blob is missing would be a file that cannot be downloaded.
      await blobs.put(key, part.gzip);
      await db.transaction(async (trx) => {
        const { domainId, day } = part.key;
        const row = { key, domainId, day, bytes: part.gzip.length, lines: part.lines };
        if (!(await insertLogPart(trx, row, clock()))) return;
        const at = Math.floor(part.firstAt / HOUR_MS) * HOUR_MS;
        for (const kind of TOP_KINDS) await addTop(trx, { domainId, at, kind }, part.top[kind], KEEP_TOP);
      });
    },
    async takeReport(report, group) {
      const rows = sumRows(await withOwners(db, report.minutes, group), days);
      await db.transaction(async (trx) => {
        if (!(await claimReport(trx, report, clock()))) return;
        await addSums(trx, rows);
        await addAccountSums(trx, rows);
      });
    },
  };
}

/**
 * Assigns traffic to no domain if the database, which was restored, does not have its domain, or has given the id to
 * another one, or if the edge's group does not serve it. docs/decisions/0232, 0574
 */
async function withOwner(db: Db, part: LogPart, group: string | undefined): Promise<LogPart> {
  const { domainId, file } = part.key;
  const starts = await listStarts(db, [domainId], group);
  const startsAt = starts.get(domainId) ?? Number.POSITIVE_INFINITY;
  if (domainId === NOBODY || part.firstAt >= startsAt - SKEW_MS) return part;
  return { ...part, key: { ...part.key, domainId: NOBODY, file: `${file}.of-${domainId}` }, top: NO_TOP };
}

async function withOwners(
  db: Db,
  minutes: readonly MinuteCounters[],
  group: string | undefined,
): Promise<readonly MinuteCounters[]> {
  const starts = await listStarts(db, [...new Set(minutes.map(({ domainId }) => domainId))], group);
  return minutes.map((counts) => {
    const endsAt = (counts.minute + 1) * MINUTE_MS;
    const isOwned = endsAt > (starts.get(counts.domainId) ?? Number.POSITIVE_INFINITY) - SKEW_MS;
    return isOwned ? counts : { ...counts, domainId: NOBODY };
  });
}

/** Returns when each of these domains began; without those that edges of the group may not report of. */
async function listStarts(
  db: Db,
  domainIds: readonly number[],
  group: string | undefined,
): Promise<ReadonlyMap<number, number>> {
  const reportable = await findReportable(db.query, group, domainIds);
  return await listDomainStarts(db.query, [...reportable]);
}

function keyOf({ key }: LogPart): BlobKey {
  const text = formatPartKey(key);
  const checked = blobKey(text);
  if (checked === undefined) throw new Error(`not a key of a log part: ${text}`);
  return checked;
}

/** Returns rows for each minute, its hour and its day. */
function sumRows(minutes: readonly MinuteCounters[], days: Days): SumRow[] {
  const rows = new Map<string, { grain: Grain; at: number; counts: Counters & { readonly domainId: number } }>();
  for (const counts of minutes) {
    const minuteAt = counts.minute * MINUTE_MS;
    const places: readonly (readonly [Grain, number])[] = [
      ['minute', minuteAt],
      ['hour', Math.floor(minuteAt / HOUR_MS) * HOUR_MS],
      ['day', days.startOf(days.dayOf(minuteAt))],
    ];
    for (const [grain, at] of places) {
      const name = `${counts.domainId} ${grain} ${at}`;
      const known = rows.get(name);
      if (known === undefined) rows.set(name, { grain, at, counts: { ...counts } });
      else addCounters(known.counts, counts);
    }
  }
  return [...rows.values()].map(({ grain, at, counts }) => ({
    domain_id: counts.domainId,
    grain,
    at,
    requests: counts.requests,
    bytes_in: counts.bytesIn,
    bytes_out: counts.bytesOut,
    bytes_origin: counts.bytesOrigin,
    hits: counts.hits,
    hit_bytes: counts.hitBytes,
    status_2xx: counts.status2xx,
    status_3xx: counts.status3xx,
    status_4xx: counts.status4xx,
    status_5xx: counts.status5xx,
  }));
}
