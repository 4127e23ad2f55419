/** Makes a machine an edge: control's side of POST /fleet/v1/enrol. docs/decisions/0584 */
import { type KeyObject, randomBytes } from 'node:crypto';
import type { Transaction } from 'kysely';
import type { Db } from '#db/open.ts';
import type { Schema } from '#db/schema/schema.ts';
import type { Keyring } from '#db/secrets/keyring.ts';
import { findGroup, lockGroups } from '#db/tables/edge-groups.ts';
import { listAuthorities, lockFleet, noteFleetChange, openAuthority, readFleet } from '#db/tables/fleet/authorities.ts';
import {
  addEdgeCertificate,
  type EdgeCertificate,
  findIssued,
  revokeCertificates,
} from '#db/tables/fleet/edge-certificates.ts';
import { countEdgeTokenUse, findEdgeToken } from '#db/tables/fleet/edge-tokens.ts';
import { enrolEdge, findEnrolledEdge } from '#db/tables/fleet/enrolled-edges.ts';
import { addFleetEvent } from '#db/tables/fleet/events.ts';
import { endViewKey } from '#db/tables/view-keys.ts';
import { readCsr } from '#model/csr.ts';
import type { EdgeToken } from '#model/fleet.ts';
import { issueEdgeLeaf, LEAF_LIFE_MS, SERIAL_BYTES } from './authority.ts';
import { fingerprintOf } from './issue-certificate.ts';
import type { EnrolRequest, IdentityAnswer } from './messages.ts';
import { FleetRefusal } from './refusal.ts';
import { hashSecret, judgeToken, parseToken } from './token.ts';
import { lackingKey } from './trust.ts';

export interface Issuer {
  readonly db: Db;
  readonly ring: Keyring;
  /** Addresses of controls, announced to edges. */
  readonly controls: readonly string[];
}

export interface EnrolmentCall {
  readonly request: EnrolRequest;
  /** Address that the request came from. */
  readonly address: string;
  readonly now: number;
}

/** Throws `FleetRefusal`; one with the word `token` counts as a wrong token. */
export async function enrol(issuer: Issuer, call: EnrolmentCall): Promise<IdentityAnswer> {
  const publicKey = readKeyOrRefuse(call.request.csr);
  const token = parseToken(call.request.token);
  if (token === undefined) throw wrongToken();
  const hash = hashSecret(token.secret);
  // Looked up before the lock, so that wrong tokens hold up nobody.
  if ((await findEdgeToken(issuer.db.query, hash)) === undefined) throw wrongToken();
  return await issuer.db.transaction(async (trx) => {
    await lockFleet(trx); // the last use of a token is taken once
    const found = await findEdgeToken(trx, hash);
    const issued = found && (await findIssued(trx, { tokenId: found.id }, printOf(publicKey)));
    const judged = judgeToken(found, { now: call.now, address: call.address, issuedAt: issued?.madeAt });
    // An edge that was revoked meanwhile gets nothing for its old token.
    if (found === undefined || judged === 'refused' || issued?.state === 'revoked') throw wrongToken();
    if (judged === 'repeat' && issued !== undefined) return await answerWith(trx, issuer, issued);
    await lockGroups(trx);
    if ((await findGroup(trx, found.group)) === undefined)
      throw new FleetRefusal(403, 'group', `the group ${found.group} of the token has been removed; make a new token`);
    const edge = chooseEdge(found, call.request.edge);
    await makeRoom(trx, edge, found, call.now);
    const { seal, machine } = call.request;
    await enrolEdge(trx, { edge, group: found.group, labels: found.labels, machine, sealKey: seal }, call.now);
    await countEdgeTokenUse(trx, found.id);
    const detail = `token ${found.id}, from ${call.address}`;
    await addFleetEvent(trx, { at: call.now, edge, event: 'enrol', detail, actor: 'edge' });
    return await answerWith(
      trx,
      issuer,
      await issue(trx, issuer, { edge, publicKey, tokenId: found.id, now: call.now }),
    );
  });
}

/** Reads the key of a request. Throws `FleetRefusal`. */
export function readKeyOrRefuse(csr: Buffer): KeyObject {
  const read = readCsr(csr);
  if (read.kind === 'invalid') throw new FleetRefusal(400, 'csr', read.reason);
  return read.publicKey;
}

export function printOf(publicKey: KeyObject): string {
  return fingerprintOf(publicKey).toString('hex');
}

/** One answer for all reasons, so that it does not reveal which tokens exist. */
function wrongToken(): FleetRefusal {
  return new FleetRefusal(
    403,
    'token',
    'unknown, expired or used up, or not valid from this address; make a new one with "causeway edge token create"',
  );
}

function chooseEdge(token: EdgeToken, wanted: string | undefined): string {
  if (token.edge !== undefined && wanted !== undefined && wanted !== token.edge)
    throw new FleetRefusal(400, 'edge', `the token is for the edge ${token.edge}`);
  return token.edge ?? wanted ?? `${token.group}-${randomBytes(4).toString('hex')}`;
}

/** An id is taken until its edge is revoked, unless the token replaces it. */
async function makeRoom(trx: Transaction<Schema>, edge: string, token: EdgeToken, now: number): Promise<void> {
  const present = await findEnrolledEdge(trx, edge);
  if (present === undefined) return;
  if (present.revokedAt === undefined && !token.replaces)
    throw new FleetRefusal(
      409,
      'edgeExists',
      `an edge ${edge} exists already; revoke it, or make the token with --replace`,
    );
  await revokeCertificates(trx, edge);
  await endViewKey(trx, present.group, now); // it may be in another group from now on
  await noteFleetChange(trx);
}

interface Ordered {
  readonly edge: string;
  readonly publicKey: KeyObject;
  /** `undefined`: a renewal. */
  readonly tokenId: number | undefined;
  readonly now: number;
}

/** Issues a certificate under the newest authority. */
export async function issue(
  trx: Transaction<Schema>,
  { ring }: Issuer,
  { edge, publicKey, tokenId, now }: Ordered,
): Promise<EdgeCertificate> {
  const newest = (await listAuthorities(trx)).at(-1);
  const authority = newest && (await openAuthority(trx, ring, newest.key));
  if (authority === undefined) throw new Error(lackingKey(newest));
  const { name: fleet } = await readFleet(trx);
  const leaf = issueEdgeLeaf(authority, { fleet, edge, publicKey, now, serial: randomBytes(SERIAL_BYTES) });
  const issued: EdgeCertificate = {
    ...leaf,
    edge,
    authority: authority.key,
    publicKey: printOf(publicKey),
    tokenId,
    state: 'new',
    madeAt: now,
    replacedAt: undefined,
  };
  await addEdgeCertificate(trx, issued);
  return issued;
}

/** Half of a certificate's life, ±10 %. */
const RENEW_FROM = 0.45;
const RENEW_SPREAD = 0.1;

export async function answerWith(
  trx: Transaction<Schema>,
  { controls }: Issuer,
  { edge, certificate, madeAt, notAfter }: EdgeCertificate,
): Promise<IdentityAnswer> {
  const { name: fleet } = await readFleet(trx);
  const authorities = await listAuthorities(trx);
  const enrolled = await findEnrolledEdge(trx, edge);
  return {
    edge,
    fleet,
    group: enrolled?.group ?? '',
    chain: certificate,
    ca: authorities.map((authority) => authority.certificate),
    notAfter,
    renewAfter: Math.round(madeAt + LEAF_LIFE_MS * (RENEW_FROM + RENEW_SPREAD * Math.random())),
    controls,
  };
}
