/** The identity of an edge with a certificate of the operator's own authority. docs/decisions/0585 */
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { readPrivateFile, replacePrivateFile } from '#lib/private-file.ts';
import { readCertificateName } from './authority.ts';
import { callFleet } from './fleet-request.ts';
import { type Identity, IdentityError, prepareKeys, sealPublicKey } from './identity.ts';
import { identityFolder } from './identity-file.ts';
import { identifyMachine } from './machine.ts';
import { ANNOUNCE_PATH, type AnnounceAnswer, MACHINE_FIELD, parseAnnounceAnswer } from './messages.ts';
import type { OwnFiles } from './trust.ts';

/**
 * Reads the identity from the operator's current files. `fleet` and `group` are empty until a control has
 * answered `announceIdentity`. Throws `IdentityError` if a file cannot be read, or the certificate names no edge.
 */
export function readOwnIdentity(dataDir: string, files: OwnFiles, controls: readonly string[]): Identity {
  const [ca = '', cert = '', key = ''] = [files.ca, files.cert, files.key].map(readFileOrExplain);
  const leaf = parseOrExplain(files.cert, cert);
  const edge = readCertificateName(leaf);
  if (edge === undefined)
    throw new IdentityError(`the certificate ${files.cert} names no edge: expected its URI, or one DNS name`);
  const { seal } = prepareKeys(dataDir, 'own');
  const { fleet, group } = readAnnounced(dataDir);
  const machine = identifyMachine(dataDir);
  const notAfter = leaf.validToDate.getTime();
  return {
    edge,
    fleet,
    group,
    serial: leaf.serialNumber.toLowerCase(),
    notAfter,
    savedAt: 0,
    renewAfterMs: Number.POSITIVE_INFINITY, // the operator renews it
    controls,
    sealKey: createPrivateKey(seal),
    machine,
    fields: { [MACHINE_FIELD]: machine },
    tls: () => ({ cert, key, ca, minVersion: 'TLSv1.3' }),
  };
}

/** Announces the seal key and machine of this edge to a control, and saves the answer. */
export async function announceIdentity(dataDir: string, identity: Identity): Promise<void> {
  const body = { seal: sealPublicKey(prepareKeys(dataDir, 'own').seal), machine: identity.machine };
  let failure: unknown = new IdentityError('no control is known');
  for (const control of identity.controls) {
    try {
      const tls = identity.tls();
      const text = await callFleet({ control, path: ANNOUNCE_PATH, body, fields: identity.fields, tls });
      replacePrivateFile(announcedFile(dataDir), JSON.stringify(parseAnnounceAnswer(text)));
      return;
    } catch (error) {
      failure = error;
    }
  }
  throw failure;
}

function announcedFile(dataDir: string): string {
  return join(identityFolder(dataDir), 'announced.json');
}

function readAnnounced(dataDir: string): AnnounceAnswer {
  const read = readPrivateFile(announcedFile(dataDir));
  try {
    if (read.kind === 'text') return parseAnnounceAnswer(read.text);
  } catch {
    // damaged: it is announced again
  }
  return { fleet: '', group: '' };
}

function readFileOrExplain(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (cause) {
    throw new IdentityError(`${file} cannot be read: ${cause instanceof Error ? cause.message : String(cause)}`, {
      cause,
    });
  }
}

function parseOrExplain(file: string, cert: string): X509Certificate {
  try {
    return new X509Certificate(cert);
  } catch (cause) {
    throw new IdentityError(`${file} holds no certificate`, { cause });
  }
}
