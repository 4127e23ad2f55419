/**
 * Deletes what control no longer needs: purges older than any stored object, prefetches of yesterday, old tasks, answers
 * and tombstones, expired marks of live streams, and their history, tokens and certificates of edges that ended long ago,
 * sessions that expired, and old events of the audit trail.
 */
import type { Transaction } from 'kysely';
import type { Db } from '#db/open.ts';
import { type Controls, HOUSEKEEPING } from '#db/peers/peers.ts';
import type { Schema } from '#db/schema/schema.ts';
import { pruneAuditEvents } from '#db/tables/audit.ts';
import { pruneTasks } from '#db/tables/cache-tasks.ts';
import { pruneRevisions } from '#db/tables/domain-revisions.ts';
import { pruneLeftGroups } from '#db/tables/edge-groups.ts';
import { pruneConditions } from '#db/tables/events/conditions.ts';
import { pruneEvents } from '#db/tables/events/events.ts';
import { tidyEventDeliveries } from '#db/tables/events/webhooks.ts';
import { pruneEdgeCertificates } from '#db/tables/fleet/edge-certificates.ts';
import { pruneEdgeTokens } from '#db/tables/fleet/edge-tokens.ts';
import { pruneKeptAnswers } from '#db/tables/kept-answers.ts';
import { pruneLiveHistory } from '#db/tables/live/history.ts';
import { endSilent } from '#db/tables/live/reports.ts';
import { pruneStreams, settleMarks } from '#db/tables/live/streams.ts';
import { pruneInvitations } from '#db/tables/people/invitations.ts';
import { pruneChallenges } from '#db/tables/people/passkeys.ts';
import { pruneSessions } from '#db/tables/people/sessions.ts';
import { pruneTries } from '#db/tables/people/tries.ts';
import { takeOldPurges } from '#db/tables/purges.ts';
import { type Change, HISTORY_KEEP_MS, listResourcesBefore, pruneHistory, publish } from '#db/tables/resources.ts';
import { pruneViewKeys } from '#db/tables/view-keys.ts';
import type { Clock } from '#lib/clock.ts';
import { DAY_MS } from '#lib/durations.ts';
import type { Logger } from '#lib/logger.ts';
import { startRounds } from '#lib/rounds.ts';
import { PREFETCH_KEEP_MS } from '#model/cache-task.ts';

const ROUND_MS = 10 * 60 * 1000;
/**
 * Retention of purges: an edge keeps no object that it requested more than 30 days ago, so none from before the purge
 * remains, even if the clocks of the machines differ by up to a day.
 */
const PURGE_KEEP_MS = 31 * 24 * 3600 * 1000;
/**
 * Silence of a live process after which its broadcasts count as ended. If it was only unreachable, they are on air
 * again with its next report.
 */
const LIVE_SILENT_MS = 3600 * 1000;
const AUDIT_DAYS = 400;
/** Rows per transaction; every publish waits for it. */
const BATCH = 250;

export interface HousekeepingOptions {
  readonly db: Db;
  readonly clock: Clock;
  /** Retention of the audit trail; absent: 400 days. */
  readonly auditDays?: number | undefined;
  /** One control of those that share the database does it. */
  readonly peers: Pick<Controls, 'underLease'>;
  readonly log: Logger;
}

/** Begins at once. A failure is logged, and the next round tries again. */
export function startHousekeeping({ db, clock, auditDays, peers, log }: HousekeepingOptions): AsyncDisposable {
  return startRounds({
    everyMs: ROUND_MS,
    work: () => peers.underLease(HOUSEKEEPING, db, (leased) => tidy(leased, clock(), auditDays)),
    onFailure: (error) => log.error({ err: error }, 'cannot delete expired feed entries; retrying later'),
  });
}

/** Deletes everything that is too old at `now`. Concurrent calls, on several machines, do no harm. */
export async function tidy(db: Db, now: number, auditDays = AUDIT_DAYS): Promise<void> {
  await withdraw(db, 'purge', now, now - PURGE_KEEP_MS);
  await withdraw(db, 'prefetch', now, now - PREFETCH_KEEP_MS);
  await db.transaction(async (trx) => {
    await pruneAuditEvents(trx, now - auditDays * DAY_MS);
    await pruneRevisions(trx, now);
    await pruneTasks(trx, now);
    await pruneEvents(trx, now);
    await pruneConditions(trx, now);
    await tidyEventDeliveries(trx, now);
    await pruneKeptAnswers(trx, now);
    await prunePeople(trx, now);
    await pruneHistory(trx, now);
    await pruneLeftGroups(trx, now - HISTORY_KEEP_MS);
    await pruneViewKeys(trx, now);
    await pruneEdgeTokens(trx, now);
    await pruneEdgeCertificates(trx, now);
  });
  await tidyLive(db, now);
}

/** What people have left behind: sessions, links and tries that ended. */
async function prunePeople(trx: Transaction<Schema>, now: number): Promise<void> {
  await pruneSessions(trx, now);
  await pruneInvitations(trx, now);
  await pruneChallenges(trx, now);
  await pruneTries(trx, now);
}

async function tidyLive(db: Db, now: number): Promise<void> {
  await inBatches(() =>
    db.transaction(async (trx) => {
      const changes = await settleMarks(trx, now, BATCH);
      if (changes.length > 0) await publish(trx, changes, now);
      return changes.length;
    }),
  );
  await inBatches(() => db.transaction((trx) => endSilent(trx, now - LIVE_SILENT_MS, BATCH)));
  await db.transaction(async (trx) => {
    await pruneStreams(trx, now);
    await pruneLiveHistory(trx, now);
  });
}

/** Repeats `work`, which returns the number of deleted rows, until a batch is not full. */
async function inBatches(work: () => Promise<number>): Promise<void> {
  while ((await work()) >= BATCH);
}

async function withdraw(db: Db, kind: 'purge' | 'prefetch', now: number, before: number): Promise<void> {
  for (;;) {
    const taken = await db.transaction(async (trx) => {
      const keys =
        kind === 'purge'
          ? await takeOldPurges(trx, { before, limit: BATCH })
          : await listResourcesBefore(trx, { kind, before, limit: BATCH });
      const changes = keys.map((key): Change => ({ kind, key, op: 'delete' }));
      if (changes.length > 0) await publish(trx, changes, now);
      return keys.length;
    });
    if (taken < BATCH) return;
  }
}
