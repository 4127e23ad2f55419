/**
 * The certificate that the fleet listener presents, and the authorities that it trusts: those of the fleet, or the
 * operator's files. docs/decisions/0585
 */
import { generateKeyPairSync, randomBytes, X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { Db } from '#db/open.ts';
import type { Keyring } from '#db/secrets/keyring.ts';
import { listAuthorities, openAuthority, readFleet, type StoredAuthority } from '#db/tables/fleet/authorities.ts';
import { CONTROL_LIFE_MS, issueControlLeaf, SERIAL_BYTES } from './authority.ts';

/** Files of the operator's own public-key infrastructure: PEM. */
export interface OwnFiles {
  readonly ca: string;
  readonly cert: string;
  readonly key: string;
}

export interface Trust {
  readonly fleet: string;
  /** `FleetRow.changes` at the time of reading. */
  readonly changes: number;
  /** The fleet's authorities, oldest first; empty with the operator's own. */
  readonly authorities: readonly X509Certificate[];
  /** PEM texts for TLS. */
  readonly context: { readonly cert: string; readonly key: string; readonly ca: readonly string[] };
  /** When it is to be renewed. */
  readonly renewAt: number;
}

/** Interval of reading the files again. */
const OWN_FILES_MS = 60_000;

/** Reads the files. Throws if one cannot be read. */
export async function readOwnTrust(db: Db, files: OwnFiles, now: number): Promise<Trust> {
  const { name, changes } = await readFleet(db.query);
  const [ca = '', cert = '', key = ''] = [files.ca, files.cert, files.key].map((file) => readFileSync(file, 'utf8'));
  return { fleet: name, changes, authorities: [], context: { cert, key, ca: [ca] }, renewAt: now + OWN_FILES_MS };
}

/**
 * Makes a certificate for this control. It is signed by the oldest authority, which every edge trusts; the key lives in
 * memory only. Throws if the authority's key is missing.
 */
export async function makeTrust(db: Db, ring: Keyring, now: number): Promise<Trust> {
  const { name, changes } = await readFleet(db.query);
  const stored = await listAuthorities(db.query);
  const [oldest] = stored;
  const opened = oldest && (await openAuthority(db.query, ring, oldest.key));
  if (opened === undefined) throw new Error(lackingKey(oldest));
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const serial = randomBytes(SERIAL_BYTES);
  const { certificate } = issueControlLeaf(opened, { fleet: name, publicKey, now, serial });
  return {
    fleet: name,
    changes,
    authorities: stored.map((authority) => new X509Certificate(authority.certificate)),
    context: {
      // The authority's certificate is sent too: a machine that enrols compares it with the pin in its token.
      cert: certificate + opened.certificate,
      key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
      ca: stored.map((authority) => authority.certificate),
    },
    renewAt: now + (CONTROL_LIFE_MS * 2) / 3,
  };
}

export function lackingKey(authority: StoredAuthority | undefined): string {
  return authority === undefined
    ? 'the fleet has no certificate authority yet: make one with "causeway edge token create"'
    : `the private key of the fleet's certificate authority ${authority.key} is missing: import an export made with secrets, or change the authority with "causeway fleet ca rotate"`;
}
