/**
 * Changes the fleet's authority in two steps, so that at any time each side trusts the other's certificate.
 * docs/decisions/0582
 */
import { randomBytes } from 'node:crypto';
import type { Db } from '#db/open.ts';
import type { Keyring } from '#db/secrets/keyring.ts';
import { unchanged } from '#db/tables/audit.ts';
import {
  addAuthority,
  listAuthorities,
  lockFleet,
  noteFleetChange,
  readFleet,
  removeAuthority,
} from '#db/tables/fleet/authorities.ts';
import { listEdgesUnder } from '#db/tables/fleet/edge-certificates.ts';
import { listEdgeTokens } from '#db/tables/fleet/edge-tokens.ts';
import { makeAuthority, SERIAL_BYTES } from './authority.ts';

export type RotationStep =
  /** `key`: key id of the new authority, or of the remaining one. */
  | { readonly kind: 'begun' | 'finished'; readonly key: string }
  /** The step is not possible now: there is no authority, a rotation is in progress, or none is. */
  | { readonly kind: 'noAuthority' | 'underWay' | 'notBegun' }
  /** Edges and tokens that still need the old authority. */
  | { readonly kind: 'inUse'; readonly edges: readonly string[]; readonly tokens: readonly number[] };

/**
 * Creates the next authority. From now on it signs the certificates of edges, which receive it at renewal. Control's
 * own certificate stays with the old one.
 */
export function beginRotation(db: Db, ring: Keyring, now: number): Promise<RotationStep> {
  return db.transaction(async (trx) => {
    await lockFleet(trx);
    const [oldest, ...others] = await listAuthorities(trx);
    if (oldest === undefined) return unchanged(trx, { kind: 'noAuthority' });
    if (others.length > 0) return unchanged(trx, { kind: 'underWay' });
    const { name } = await readFleet(trx);
    // Not at the same instant as the old one, by which they are ordered.
    const madeAt = Math.max(now, oldest.madeAt + 1);
    const made = makeAuthority(name, now, randomBytes(SERIAL_BYTES));
    await addAuthority(trx, ring, { ...made, madeAt });
    await noteFleetChange(trx);
    return { kind: 'begun', key: made.key };
  });
}

/**
 * Withdraws the old authority once every edge has a certificate of the new one, and therefore trusts it. `graceMs`:
 * time after its end in which a certificate may still be renewed.
 */
export function finishRotation(
  db: Db,
  { now, graceMs }: { readonly now: number; readonly graceMs: number },
): Promise<RotationStep> {
  return db.transaction(async (trx) => {
    await lockFleet(trx);
    const [oldest, newest] = await listAuthorities(trx);
    if (oldest === undefined) return unchanged(trx, { kind: 'noAuthority' });
    if (newest === undefined) return unchanged(trx, { kind: 'notBegun' });
    const edges = await listEdgesUnder(trx, oldest.key, now - graceMs);
    const pinned = (await listEdgeTokens(trx)).filter((token) => token.authority === oldest.key);
    const open = pinned.filter(
      (token) => token.revokedAt === undefined && token.expiresAt > now && token.used < token.uses,
    );
    if (edges.length + open.length > 0)
      return unchanged(trx, { kind: 'inUse', edges, tokens: open.map(({ id }) => id) });
    await removeAuthority(trx, oldest.key);
    await noteFleetChange(trx);
    return { kind: 'finished', key: newest.key };
  });
}
