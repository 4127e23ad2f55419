/** Certificates of domains, for tests of how they reach edges. */
import assert from 'node:assert/strict';
import { createPrivateKey } from 'node:crypto';
import { changeDomain } from '#api/settings/change.ts';
import { addCertificate } from '#db/tables/certificates.ts';
import { systemClock } from '#lib/clock.ts';
import { parseChain } from '#model/certificate.ts';
import type { FleetWorld } from './fleet-world.ts';

type Owner = Pick<FleetWorld, 'db' | 'ring' | 'authority' | 'accountId'>;

/** Adds a certificate, and lets the domain use it. Returns its key. */
export async function secureDomain(w: Owner, domainId: number, ...hosts: readonly string[]): Promise<string> {
  const issued = w.authority.issue(hosts);
  const privateKey = createPrivateKey(issued.key);
  const parsed = parseChain(issued.cert, privateKey, systemClock());
  assert.equal(parsed.kind, 'chain');
  const { chain } = parsed as Extract<typeof parsed, { kind: 'chain' }>;
  const given = { accountId: w.accountId, title: 't', chain, privateKey, now: systemClock() };
  const key = await w.db.transaction((trx) => addCertificate(trx, w.ring, given, 100));
  await useCertificate(w, domainId, key ?? '');
  return key ?? '';
}

/** `sslKey`: empty: HTTPS is switched off. */
export async function useCertificate(w: Owner, domainId: number, sslKey: string): Promise<void> {
  await changeDomain(w.db, { accountId: w.accountId, domainIds: undefined, domainId }, systemClock(), (domain) => ({
    ...domain,
    settings: { ...domain.settings, sslControl: sslKey !== '', sslKey },
  }));
}
