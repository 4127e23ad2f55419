/**
 * Publishes the place of edges among the tiers as resources of the kind `tier`, so that they follow groups, enrolments,
 * renewals, revocations and what edges report. Every control does this; the first changes something. docs/decisions/0732
 */
import type { Db } from '#db/open.ts';
import { lockFleet } from '#db/tables/fleet/authorities.ts';
import { listTierChanges } from '#db/tables/fleet/tiers.ts';
import { publish } from '#db/tables/resources.ts';
import type { Clock } from '#lib/clock.ts';
import type { Logger } from '#lib/logger.ts';
import { startRounds } from '#lib/rounds.ts';

/** A revoked edge is to be unknown to its parents within a second. */
const ROUND_MS = 500;

export interface TierAnnouncementsOptions {
  readonly db: Db;
  readonly clock: Clock;
  readonly log: Logger;
}

export function startTierAnnouncements({ db, clock, log }: TierAnnouncementsOptions): AsyncDisposable {
  return startRounds({
    everyMs: ROUND_MS,
    isDelayed: true, // to keep the start fast
    work: () => announceTiers(db, clock()),
    onFailure: (error, isRepeated) => {
      if (!isRepeated) log.error({ err: error }, 'cannot publish the tiers of edges; retrying');
    },
  });
}

/** Publishes what has changed since the last call, if anything has. */
export async function announceTiers(db: Db, now: number): Promise<void> {
  if ((await listTierChanges(db.query)).length === 0) return;
  await db.transaction(async (trx) => {
    await lockFleet(trx);
    const changes = await listTierChanges(trx); // another control may have published them
    if (changes.length > 0) await publish(trx, changes, now);
  });
}
