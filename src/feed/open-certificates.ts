/**
 * Certificates on their way to an edge: what lies sealed in the database is opened as it is sent, and nowhere else. One that
 * does not open holds nothing up: the edge is told why, refuses it, and keeps what it has.
 */
import { CERTIFICATE_KIND, privateKeyPlace, type SealedPair } from '#db/certificates.ts';
import { type Keyring, KeyringError } from '#db/keyring.ts';
import type { ResourceRow } from '#db/resources.ts';
import { unseal } from '#db/sealing.ts';
import type { Logger } from '#lib/logger.ts';
import type { CertificatePair } from '#sites/table.ts';
import type { UnopenedSecret } from './protocol.ts';

/** Gives a resource's body as it is sent: JSON. */
export type OpenBody = (row: ResourceRow) => string;

/** `ring` absent: this feed has no certificates. */
export function createOpenBody(ring: Keyring | undefined, log: Logger): OpenBody {
  const told = new Set<string>();
  return ({ kind, key, body }) => {
    if (kind !== CERTIFICATE_KIND || ring === undefined) return body;
    try {
      return openPair(ring, key, body);
    } catch (error) {
      if (!(error instanceof KeyringError)) throw error;
      if (!told.has(key)) log.error({ err: error, certificate: key }, 'a certificate cannot be sent to edges');
      told.add(key);
      return JSON.stringify({ problem: error.message } satisfies UnopenedSecret);
    }
  };
}

function openPair(ring: Keyring, key: string, body: string): string {
  // `as`: written by `db/certificates.ts` only.
  const pair = JSON.parse(body) as SealedPair;
  const opened: CertificatePair = {
    certificate: pair.certificate,
    key: unseal(ring, privateKeyPlace(key), pair.key).toString('utf8'),
  };
  return JSON.stringify(opened);
}
