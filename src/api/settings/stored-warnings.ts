/** What clients are likely to refuse in certificates that the service has, as far as their chains tell. docs/decisions/0431 */
import { setImmediate as letOthersRun } from 'node:timers/promises';
import type { Executor } from '#db/schema/schema.ts';
import { findChains } from '#db/tables/certificates.ts';
import { type CertificateWarning, findWarnings } from '#model/certificate-warnings.ts';

/** Each takes some 0.3 ms of the process. */
const CHAINS_IN_A_TURN = 10;

/** Returns the warnings by `ssl_key`, without those that only the file or a handshake shows. Call it for at most a page of certificates. */
export async function findStoredWarnings(
  x: Executor,
  keys: readonly string[],
  now: number,
): Promise<ReadonlyMap<string, readonly CertificateWarning[]>> {
  const found = new Map<string, readonly CertificateWarning[]>();
  for (const [index, { key, ...chain }] of (await findChains(x, keys)).entries()) {
    if (index > 0 && index % CHAINS_IN_A_TURN === 0) await letOthersRun();
    found.set(key, findWarnings(chain, { authorities: [], now }));
  }
  return found;
}
