/** Stores the seal key and machine that an edge with the operator's own certificate announces. docs/decisions/0585 */
import { lockFleet, readFleet } from '#db/tables/fleet/authorities.ts';
import { findEnrolledEdge, setMachine, setSealKey } from '#db/tables/fleet/enrolled-edges.ts';
import type { Peer } from '#feed/publish/peer.ts';
import type { Issuer } from './enrol.ts';
import type { AnnounceAnswer, AnnounceRequest } from './messages.ts';
import { FleetRefusal } from './refusal.ts';
import { cloneFound } from './renew.ts';

/** Throws `FleetRefusal`; one with the word `clone` says that two machines have the identity. */
export function noteAnnouncement(
  { db }: Pick<Issuer, 'db'>,
  { edge }: Peer,
  { seal, machine }: AnnounceRequest,
): Promise<AnnounceAnswer> {
  return db.transaction(async (trx) => {
    await lockFleet(trx);
    const enrolled = await findEnrolledEdge(trx, edge);
    if (enrolled === undefined || enrolled.revokedAt !== undefined)
      throw new FleetRefusal(403, 'revoked', 'the edge has been revoked');
    if (enrolled.machine === '') await setMachine(trx, edge, machine);
    else if (enrolled.machine !== machine) throw cloneFound(edge);
    if (enrolled.sealKey !== seal) await setSealKey(trx, edge, seal);
    return { fleet: (await readFleet(trx)).name, group: enrolled.group };
  });
}
