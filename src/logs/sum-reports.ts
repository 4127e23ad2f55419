/**
 * Adds reports of edges to the stored sums: those that arrive within a moment are added up over all edges before they
 * are written, in one transaction that also claims them. docs/decisions/0231, 0740
 */
import { isDatabaseAway } from '#db/failures.ts';
import type { Db } from '#db/open.ts';
import { addAccountSums } from '#db/tables/account-sums.ts';
import { addSums, claimReports, nameOfStart, type StoredGrain, type SumRow } from '#db/tables/statistics.ts';
import { type Clock, steadyClock } from '#lib/clock.ts';
import { FIVE_MINUTES_MS, HOUR_MS, MINUTE_MS } from '#lib/durations.ts';
import { type GatheredCalls, gatherCalls } from '#lib/gathered-calls.ts';
import { addCounters, type Counters, type MinuteCounters } from './counters.ts';
import type { Days } from './day.ts';
import { listStarts, NO_DOMAIN, SKEW_MS } from './owners.ts';
import type { StatisticsReport } from './report.ts';
import { Tally } from './tally.ts';

/** `group`: of the edge that sent it; absent for an edge of control's machine. */
export interface SentReport {
  readonly report: StatisticsReport;
  readonly group: string | undefined;
}

export interface SumOptions {
  readonly db: Db;
  readonly days: Days;
  readonly clock: Clock;
}

/** Reports in one round, and rows of them, before they are added up. */
const ROUND = { calls: 500, size: 20_000 };
/** Reports that wait, and rows of them: a row takes some 200 bytes. */
const WAITING = { calls: 10_000, size: 500_000 };
/** Longest time in which reports are gathered after a round. */
const MAX_GATHER_MS = 1_000;

/** Calls have the number of their rows as their size, and resolve when they are stored durably. */
export function gatherReports(options: SumOptions): GatheredCalls<SentReport, 'added'> {
  return gatherCalls({
    perform: (sent) => addReports(options, sent),
    isAway: isDatabaseAway,
    keyOf: ({ report }) => nameOfStart(report),
    ...{ round: ROUND, waiting: WAITING, pause: { maxMs: MAX_GATHER_MS, clock: steadyClock } },
  });
}

async function addReports({ db, days, clock }: SumOptions, sent: readonly SentReport[]): Promise<readonly 'added'[]> {
  const isOwned = await readOwnership(db, sent);
  const groups = new Map(sent.map(({ report, group }) => [report, group]));
  await db.transaction(async (trx) => {
    const claimed = await claimReports(trx, [...groups.keys()], clock());
    const tally = new Tally();
    for (const report of claimed)
      for (const counts of report.minutes) {
        const domainId = isOwned(counts, groups.get(report)) ? counts.domainId : NO_DOMAIN;
        addCounters(tally.of(domainId, counts.minute), counts);
      }
    const rows = sumRows(tally.take(), days);
    await addSums(trx, rows);
    await addAccountSums(trx, rows);
  });
  return sent.map(() => 'added');
}

/** Returns whether counts that an edge of a group reports are those of their domain. docs/decisions/0232, 0574 */
async function readOwnership(
  db: Db,
  sent: readonly SentReport[],
): Promise<(counts: MinuteCounters, group: string | undefined) => boolean> {
  const starts = new Map<string | undefined, ReadonlyMap<number, number>>();
  for (const [group, reports] of Map.groupBy(sent, (one) => one.group)) {
    const ids = new Set(reports.flatMap(({ report }) => report.minutes.map(({ domainId }) => domainId)));
    starts.set(group, await listStarts(db, [...ids], group));
  }
  return ({ domainId, minute }, group) => {
    const endsAt = (minute + 1) * MINUTE_MS;
    return endsAt > (starts.get(group)?.get(domainId) ?? Number.POSITIVE_INFINITY) - SKEW_MS;
  };
}

/** Returns rows for each minute, its five minutes, its hour and its day. */
function sumRows(minutes: readonly MinuteCounters[], days: Days): SumRow[] {
  const rows = new Map<string, { grain: StoredGrain; at: number; counts: Counters & { readonly domainId: number } }>();
  for (const counts of minutes) {
    const minuteAt = counts.minute * MINUTE_MS;
    const places: readonly (readonly [StoredGrain, number])[] = [
      ['minute', minuteAt],
      ['five', Math.floor(minuteAt / FIVE_MINUTES_MS) * FIVE_MINUTES_MS],
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
