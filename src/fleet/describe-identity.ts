/** The identity of this machine as an edge, for people. Reads only, also where the identity cannot be used. */
import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { IdentityView } from '#model/fleet.ts';
import { readCertificateName } from './authority.ts';
import { IdentityError, readStored, toIdentity } from './identity.ts';
import { identityFile } from './identity-file.ts';
import { identifyMachine } from './machine.ts';
import type { OwnFiles } from './trust.ts';

/** Returns `undefined` if this machine was never enrolled. Throws `IdentityError` if a file cannot be read. */
export function describeIdentity(dataDir: string): IdentityView | undefined {
  const stored = readStored(identityFile(dataDir));
  if (stored === undefined) return undefined;
  const { edge, fleet, group, serial, notAfter, controls } = toIdentity(stored);
  const { renewAfter } = stored.answer;
  const isCopy = stored.machine !== identifyMachine(dataDir);
  return { edge, fleet, group, serial, notAfter, renewAfter, controls, isCopy };
}

/** The same of a certificate of the operator's own authority. Throws `IdentityError` if it cannot be read. */
export function describeOwnIdentity({ cert }: Pick<OwnFiles, 'cert'>, controls: readonly string[]): IdentityView {
  const leaf = readLeaf(cert);
  return {
    edge: readCertificateName(leaf) ?? '',
    fleet: '',
    group: '',
    serial: leaf.serialNumber.toLowerCase(),
    notAfter: leaf.validToDate.getTime(),
    renewAfter: undefined,
    controls,
    isCopy: false,
  };
}

function readLeaf(file: string): X509Certificate {
  try {
    return new X509Certificate(readFileSync(file));
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new IdentityError(`${file} cannot be read as a certificate: ${reason}`, { cause });
  }
}
