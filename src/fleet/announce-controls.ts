/** Publishes the addresses of the controls to edges. docs/decisions/0591 */
import type { Db } from '#db/open.ts';
import { publish, readResourceBody } from '#db/tables/resources.ts';
import { CONTROLS_KEY, FLEET_KIND, type FleetControls } from '#feed/wire/protocol.ts';

/** Publishes the addresses, `https://host:port`, unless they are published already. An empty list withdraws them. */
export function announceControls(db: Db, controls: readonly string[], now: number): Promise<void> {
  return db.transaction(async (trx) => {
    const place = { kind: FLEET_KIND, key: CONTROLS_KEY };
    const body: FleetControls = { controls };
    const wanted = controls.length > 0 ? JSON.stringify(body) : undefined;
    if ((await readResourceBody(trx, place)) === wanted) return;
    await publish(trx, [wanted === undefined ? { ...place, op: 'delete' } : { ...place, op: 'put', body }], now);
  });
}
