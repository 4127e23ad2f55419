/** Publishes to edges what concerns the fleet itself. docs/decisions/0591, 0730 */
import type { Db } from '#db/open.ts';
import { readFleet } from '#db/tables/fleet/authorities.ts';
import { publish, readResourceBody } from '#db/tables/resources.ts';
import { CONTROLS_KEY, FLEET_KIND, type FleetControls, type FleetId, ID_KEY } from '#feed/wire/protocol.ts';

/** Publishes the addresses, `https://host:port`, unless they are published already. An empty list withdraws them. */
export function announceControls(db: Db, controls: readonly string[], now: number): Promise<void> {
  const body: FleetControls = { controls };
  return announce(db, CONTROLS_KEY, controls.length > 0 ? body : undefined, now);
}

/** Publishes the fleet's id, unless it is published already. */
export async function announceFleetId(db: Db, now: number): Promise<void> {
  const body: FleetId = { id: (await readFleet(db.query)).name };
  await announce(db, ID_KEY, body, now);
}

/** `body`: `undefined` withdraws what is published. */
function announce(db: Db, key: string, body: object | undefined, now: number): Promise<void> {
  return db.transaction(async (trx) => {
    const place = { kind: FLEET_KIND, key };
    const wanted = body && JSON.stringify(body);
    if ((await readResourceBody(trx, place)) === wanted) return;
    await publish(trx, [body === undefined ? { ...place, op: 'delete' } : { ...place, op: 'put', body }], now);
  });
}
