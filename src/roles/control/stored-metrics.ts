/** Metrics of what is stored: control reads them from the database at an interval, not when they are collected. */
import type { Registry } from 'prom-client';
import type { Db } from '#db/open.ts';
import { type CertificateEnds, countCertificateEnds } from '#db/tables/certificate-ends.ts';
import { readDatabaseBytes } from '#db/tables/database-size.ts';
import { type QueueDepth, readQueueDepths } from '#db/tables/sms/queue-depth.ts';
import type { Logger } from '#lib/logger.ts';
import { metricsOf } from '#lib/metrics.ts';
import { startRounds } from '#lib/rounds.ts';

interface StoredMetricsOptions {
  readonly db: Db;
  readonly log: Logger;
  readonly registry: Registry;
}

interface Stored {
  readonly databaseBytes: number;
  readonly certificates: CertificateEnds;
  readonly queue: readonly QueueDepth[];
}

const LOOK_EVERY_MS = 30_000;

/** Every control of a database shows the same values: take the maximum over controls. */
export function watchStored({ db, log, registry }: StoredMetricsOptions): AsyncDisposable {
  let stored: Stored | undefined;
  addMetrics(registry, db, () => stored);
  return startRounds({
    everyMs: LOOK_EVERY_MS,
    work: async () => {
      const now = db.clock();
      stored = {
        databaseBytes: await readDatabaseBytes(db.query),
        certificates: await countCertificateEnds(db.query, now),
        queue: await readQueueDepths(db.query, now),
      };
    },
    onFailure: (error, isRepeated) => {
      if (!isRepeated) log.error({ err: error }, 'cannot read what the metrics show of the database; retrying');
    },
  });
}

function addMetrics(registry: Registry, { clock }: Pick<Db, 'clock'>, read: () => Stored | undefined): void {
  const { gauge, gauges } = metricsOf(registry);
  gauge(
    'causeway_database_bytes',
    'Size of the database, without the log of recent changes',
    () => read()?.databaseBytes,
  );
  gauges(
    'causeway_certificates',
    'Certificates that domains use, by when they end: expired, within 7, 14 or 30 days, or later; each counts once',
    ['ends'],
    () => [...(read()?.certificates.counts ?? [])].map(([ends, count]) => [{ ends }, count]),
  );
  gauges(
    'causeway_certificates_expire_seconds',
    'How long the first of the certificates that domains use is still valid; negative: it has ended',
    [],
    () => {
      const end = read()?.certificates.firstEndAt;
      return end === undefined ? [] : [[{}, (end - clock()) / 1000]];
    },
  );
  gauges(
    'causeway_sms_queue_parts',
    'SMS parts that wait, by state: queued, uncertain (no answer from the carrier) or submitted (no receipt yet); at most 100000 are counted',
    ['state'],
    () => (read()?.queue ?? []).map(({ state, parts }) => [{ state }, parts]),
  );
  gauges(
    'causeway_sms_queue_oldest_seconds',
    'How long the oldest of these parts has been due (queued) or has been at the carrier; 0: none waits',
    ['state'],
    () => (read()?.queue ?? []).map(({ state, oldestMs }) => [{ state }, oldestMs / 1000]),
  );
}
