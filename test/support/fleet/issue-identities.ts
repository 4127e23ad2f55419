/** Identities of many edges, issued by the fleet's authority without its listener: enrolment has tests of its own. */
import { createPublicKey, generateKeyPairSync, type KeyObject, randomBytes } from 'node:crypto';
import type { Db } from '#db/open.ts';
import type { Keyring } from '#db/secrets/keyring.ts';
import { makeCurrent } from '#db/tables/fleet/edge-certificates.ts';
import { enrolEdge } from '#db/tables/fleet/enrolled-edges.ts';
import { answerWith, issue } from '#fleet/enrol.ts';
import { ensureAuthority } from '#fleet/ensure-authority.ts';
import { type StoredIdentity, sealPublicKey, writeIdentity } from '#fleet/identity.ts';
import { identifyMachine } from '#fleet/machine.ts';

/** Edges in one transaction, which control waits for. */
const AT_ONCE = 50;

export interface IdentityIssuer {
  readonly db: Db;
  readonly ring: Keyring;
}

interface Applicant {
  readonly edge: string;
  /** 64 hex digits. */
  readonly machine: string;
}

/** Enrols edges of the default group whose machines are made up. `controls`: `https://host:port`. */
export async function issueIdentities(
  issuer: IdentityIssuer,
  edges: readonly string[],
  controls: readonly string[],
): Promise<readonly StoredIdentity[]> {
  await ensureAuthority(issuer.db, issuer.ring, issuer.db.clock());
  const issued: StoredIdentity[] = [];
  for (let from = 0; from < edges.length; from += AT_ONCE) {
    const applicants = edges.slice(from, from + AT_ONCE).map((edge) => {
      return { edge, machine: randomBytes(32).toString('hex') };
    });
    issued.push(...(await issueSome(issuer, applicants, controls)));
  }
  return issued;
}

/** Makes the machine with this data directory an edge, which `causeway serve --roles edge` can start. */
export async function placeIdentity(
  issuer: IdentityIssuer,
  edge: string,
  dataDir: string,
  controls: readonly string[],
): Promise<void> {
  const [identity] = await issueSome(issuer, [{ edge, machine: identifyMachine(dataDir) }], controls);
  if (identity !== undefined) writeIdentity(dataDir, identity);
}

function issueSome({ db, ring }: IdentityIssuer, applicants: readonly Applicant[], controls: readonly string[]) {
  const now = db.clock();
  const keyed = applicants.map((applicant) => ({
    ...applicant,
    key: exportKey(generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey),
    seal: exportKey(generateKeyPairSync('x25519').privateKey),
  }));
  return db.transaction(async (trx) => {
    const issued: StoredIdentity[] = [];
    for (const { edge, machine, key, seal } of keyed) {
      const sealKey = sealPublicKey(seal);
      await enrolEdge(trx, { edge, group: 'default', labels: {}, machine, sealKey }, now);
      const order = { edge, publicKey: createPublicKey(key), tokenId: undefined, now };
      const certificate = await issue(trx, { db, ring, controls }, order);
      await makeCurrent(trx, certificate, { from: ['new'], now });
      const answer = await answerWith(trx, { db, ring, controls }, certificate);
      issued.push({ key, seal, machine, answer, savedAt: now });
    }
    return issued;
  });
}

function exportKey(key: KeyObject): string {
  return key.export({ type: 'pkcs8', format: 'pem' }).toString();
}
