/**
 * Obtains certificates in control: from the authority that the settings name, for the customers' domains.
 * docs/decisions/0190
 */
import { randomUUID } from 'node:crypto';
import type { Registry } from 'prom-client';
import { createAccountHolder } from '#acme/account.ts';
import { createAuthority } from '#acme/authority.ts';
import { createHttps } from '#acme/https.ts';
import { startAcmeWorker } from '#acme/worker.ts';
import { CERTIFICATES_PER_ACCOUNT } from '#api/calls/calls.ts';
import { giveCertificate } from '#api/settings/give-certificate.ts';
import type { AcmeConfig } from '#config';
import type { Db } from '#db/open.ts';
import type { Controls } from '#db/peers/peers.ts';
import type { Keyring } from '#db/secrets/keyring.ts';
import { countOrders } from '#db/tables/certificate-orders.ts';
import { steadyClock } from '#lib/clock.ts';
import type { Logger } from '#lib/logger.ts';
import { metricsOf } from '#lib/metrics.ts';

export interface AcmeOptions {
  readonly acme: AcmeConfig;
  /** The release. */
  readonly build: string;
  readonly db: Db;
  readonly peers: Pick<Controls, 'mayClaim'>;
  readonly ring: Keyring;
  readonly log: Logger;
  readonly registry: Registry;
}

export async function startAcme({
  acme,
  build,
  db,
  peers,
  ring,
  log,
  registry,
}: AcmeOptions): Promise<AsyncDisposable> {
  const ended = metricsOf(registry).counter(
    'causeway_certificate_orders_total',
    'Certificate orders, by outcome: issued or the problem',
    ['outcome'],
  );
  const { directory, email, ca, binding } = acme;
  const { clock } = db;
  const https = createHttps(`causeway/${build}`, ca);
  const authority = createAuthority({
    directoryUrl: directory,
    ask: https.ask,
    binding,
    clock,
    steadyClock,
  });
  const worker = await startAcmeWorker({
    ...{ db, peers, ring, authority, log },
    account: createAccountHolder({ db, ring, authority, directory, email, clock, steadyClock }),
    give: (trx, given) => giveCertificate(trx, { ring, maxCertificates: CERTIFICATES_PER_ACCOUNT }, given),
    clock,
    random: Math.random,
    owner: randomUUID(),
    onEnd: (outcome) => ended.inc({ outcome }),
  });
  return {
    async [Symbol.asyncDispose]() {
      await worker[Symbol.asyncDispose]();
      await https[Symbol.asyncDispose]();
    },
  };
}

/** Warns if no authority is set any more: certificates obtained earlier will expire. */
export async function warnOfStoppedRenewals(db: Db, log: Logger): Promise<void> {
  const orders = await countOrders(db.query);
  if (orders > 0)
    log.warn({ orders }, 'acme-directory is not set; certificates obtained earlier are no longer renewed');
}
