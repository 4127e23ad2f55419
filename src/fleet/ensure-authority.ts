/** Makes the fleet's certificate authority once, whichever control needs it first. docs/decisions/0582 */
import { randomBytes } from 'node:crypto';
import type { Db } from '#db/open.ts';
import type { Keyring } from '#db/secrets/keyring.ts';
import { noteChanges, unchanged } from '#db/tables/audit.ts';
import {
  addAuthority,
  listAuthorities,
  lockFleet,
  noteFleetChange,
  readFleet,
  type StoredAuthority,
} from '#db/tables/fleet/authorities.ts';
import { makeAuthority, SERIAL_BYTES } from './authority.ts';

/** Returns the authorities, oldest first: at least one. */
export async function ensureAuthority(db: Db, ring: Keyring, now: number): Promise<readonly StoredAuthority[]> {
  const present = await listAuthorities(db.query);
  if (present.length > 0) return present;
  return await db.transaction(async (trx) => {
    await lockFleet(trx);
    const found = await listAuthorities(trx);
    if (found.length > 0) return unchanged(trx, found);
    const { name } = await readFleet(trx);
    const made = makeAuthority(name, now, randomBytes(SERIAL_BYTES));
    await addAuthority(trx, ring, { ...made, madeAt: now });
    await noteFleetChange(trx);
    noteChanges(trx, [{ target: { kind: 'authority', id: made.key, name: '' }, before: {}, after: {} }]);
    return await listAuthorities(trx);
  });
}
