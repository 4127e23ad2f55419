/**
 * Checks whether a standby confirms commits of PostgreSQL, and warns if paid messages depend on it. docs/decisions/0581
 */
import type { Registry } from 'prom-client';
import type { Db } from '#db/open.ts';
import { isSmsInUse, isSynchronous } from '#db/tables/replication.ts';
import { steadyClock } from '#lib/clock.ts';
import { HOUR_MS } from '#lib/durations.ts';
import type { Logger } from '#lib/logger.ts';
import { metricsOf } from '#lib/metrics.ts';
import { startRounds } from '#lib/rounds.ts';

interface ReplicationOptions {
  readonly db: Db;
  readonly databaseSynchronous: 'any' | 'required';
  readonly log: Logger;
  readonly registry: Registry;
}

const LOOK_EVERY_MS = 60_000;

/** Throws if the settings require that a standby confirms commits and none does. Does nothing on SQLite. */
export async function watchReplication(options: ReplicationOptions): Promise<AsyncDisposable | undefined> {
  const { db, databaseSynchronous, log, registry } = options;
  if (db.engine === 'sqlite') return undefined;
  let synchronous = await isSynchronous(db.query);
  if (!synchronous && databaseSynchronous === 'required')
    throw new Error(
      'no standby confirms commits of the database (setting database-synchronous): set synchronous_standby_names of PostgreSQL',
    );
  log.info({ synchronous }, synchronous ? 'a standby confirms commits of the database' : NOT_CONFIRMED);
  metricsOf(registry).gauge(
    'causeway_database_synchronous',
    '1 if PostgreSQL acknowledges a commit only after a standby has it',
    () => (synchronous ? 1 : 0),
  );
  let warnedAt = Number.NEGATIVE_INFINITY;
  return startRounds({
    everyMs: LOOK_EVERY_MS,
    work: async () => {
      synchronous = await isSynchronous(db.query);
      const mayWarn = !synchronous && steadyClock() - warnedAt >= HOUR_MS;
      if (!mayWarn || !(await isSmsInUse(db.query))) return;
      warnedAt = steadyClock();
      log.warn(
        `${NOT_CONFIRMED}; after the loss of its server messages may be sent twice, and paid ones may be missing`,
      );
    },
    onFailure: () => undefined, // the parts that need the database say so
  });
}

const NOT_CONFIRMED = 'no standby confirms commits of the database';
