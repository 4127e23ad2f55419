/** What operators do to the identities of edges. Each change is noticed by every control within a second. */
import { randomBytes, X509Certificate } from 'node:crypto';
import type { Db } from '#db/open.ts';
import type { Keyring } from '#db/secrets/keyring.ts';
import { noteChanges, unchanged } from '#db/tables/audit.ts';
import { findGroup, lockGroups } from '#db/tables/edge-groups.ts';
import { noteFleetChange } from '#db/tables/fleet/authorities.ts';
import { findEdgeCertificate, makeCurrent, revokeCertificates } from '#db/tables/fleet/edge-certificates.ts';
import { withdrawEdge } from '#db/tables/fleet/edge-orders.ts';
import { addEdgeToken, type NewEdgeToken } from '#db/tables/fleet/edge-tokens.ts';
import { enrolEdge, findEnrolledEdge, setMachine, setRevoked, setSuspect } from '#db/tables/fleet/enrolled-edges.ts';
import { addFleetEvent } from '#db/tables/fleet/events.ts';
import { endViewKey } from '#db/tables/view-keys.ts';
import type { EdgeLabels } from '#model/fleet.ts';
import { pinOf } from './authority.ts';
import { ensureAuthority } from './ensure-authority.ts';
import { formatToken, hashSecret, SECRET_BYTES } from './token.ts';

export type TokenOrder = Omit<NewEdgeToken, 'hash' | 'authority' | 'createdAt'>;

/**
 * Creates a token with which machines enrol, and the fleet's authority if there is none. The token is not stored. Returns
 * `undefined` if there is no such group.
 */
export async function createEdgeToken(
  { db, ring, now }: { readonly db: Db; readonly ring: Keyring; readonly now: number },
  order: TokenOrder,
): Promise<{ readonly id: number; readonly token: string } | undefined> {
  if ((await findGroup(db.query, order.group)) === undefined) return undefined; // looked up again at each enrolment
  // The oldest authority is that of control's own certificate, which a machine compares with the token.
  const [authority] = await ensureAuthority(db, ring, now);
  if (authority === undefined) throw new Error('the fleet has no authority'); // never: it has just been made
  const secret = randomBytes(SECRET_BYTES);
  const hash = hashSecret(secret.toString('base64url'));
  const id = await db.transaction(async (trx) => {
    const added = await addEdgeToken(trx, { ...order, hash, authority: authority.key, createdAt: now });
    const { edge, group, labels, addresses, uses, replaces } = order;
    const target = { kind: 'edgeToken', id: String(added), name: '' } as const;
    noteChanges(trx, [{ target, before: {}, after: { edge, group, labels, addresses, uses, replaces } }]);
    return added;
  });
  return { id, token: formatToken(secret, pinOf(new X509Certificate(authority.certificate))) };
}

/** `edgeExists`: an edge has this id and is not revoked. */
export type EdgeAddition = 'added' | 'edgeExists' | 'groupUnknown';

/** Adds an edge whose certificate is of the operator's own authority. */
export function addEdge(
  db: Db,
  { edge, group, labels, now, actor }: Act & { readonly group: string; readonly labels: EdgeLabels },
): Promise<EdgeAddition> {
  return db.transaction(async (trx) => {
    await lockGroups(trx); // so that the group is not removed meanwhile
    if ((await findGroup(trx, group)) === undefined) return unchanged(trx, 'groupUnknown');
    const present = await findEnrolledEdge(trx, edge);
    if (present !== undefined && present.revokedAt === undefined) return unchanged(trx, 'edgeExists');
    await enrolEdge(trx, { edge, group, labels, machine: '', sealKey: '' }, now);
    await noteFleetChange(trx);
    await addFleetEvent(trx, { at: now, edge, event: 'enrol', detail: 'own certificate', actor });
    return 'added';
  });
}

interface Act {
  readonly edge: string;
  readonly now: number;
  /** See `FleetEvent`. */
  readonly actor: string;
}

/** Revokes an edge: its connections are cut and its certificates refused. Returns false if no such edge is enrolled. */
export function revokeEdge(db: Db, { edge, reason, now, actor }: Act & { readonly reason: string }): Promise<boolean> {
  return db.transaction(async (trx) => {
    const enrolled = await findEnrolledEdge(trx, edge);
    if (enrolled?.revokedAt !== undefined) return unchanged(trx, true);
    if (enrolled === undefined || !(await setRevoked(trx, edge, reason, now))) return unchanged(trx, false);
    await revokeCertificates(trx, edge);
    await endViewKey(trx, enrolled.group, now);
    await noteFleetChange(trx);
    await addFleetEvent(trx, { at: now, edge, event: 'revoke', detail: reason, actor });
    await withdrawEdge(trx, edge, now);
    return true;
  });
}

/** `edgeUnknown`: no such edge is enrolled. `serialUnknown`: the edge has no such certificate, or it is revoked. */
export type CopyDecision = 'accepted' | 'edgeUnknown' | 'serialUnknown';

/**
 * Keeps one of two copies of an edge: the one with this certificate. The other certificates are replaced and refused. A
 * copy with a replaced certificate may run on another machine, which is recorded again at its next renewal. With the
 * current certificate the machine stays: a copy that has the same certificate is refused. docs/decisions/0606
 */
export function acceptEdge(
  db: Db,
  { edge, serial, now, actor }: Act & { readonly serial: string },
): Promise<CopyDecision> {
  return db.transaction(async (trx) => {
    const enrolled = await findEnrolledEdge(trx, edge);
    if (enrolled?.kind !== 'edge') return unchanged(trx, 'edgeUnknown');
    const certificate = await findEdgeCertificate(trx, serial);
    if (certificate?.edge !== edge || certificate.state === 'revoked') return unchanged(trx, 'serialUnknown');
    await makeCurrent(trx, certificate, { from: ['new', 'current', 'replaced'], now });
    await setSuspect(trx, edge, null);
    if (certificate.state === 'replaced') await setMachine(trx, edge, '');
    await noteFleetChange(trx);
    await addFleetEvent(trx, { at: now, edge, event: 'accept', detail: serial, actor });
    return 'accepted';
  });
}
