/** Gives an edge its next certificate: control's side of POST /fleet/v1/renew. docs/decisions/0583 */

import { lockFleet } from '#db/tables/fleet/authorities.ts';
import { type EdgeCertificate, findEdgeCertificate, findIssued } from '#db/tables/fleet/edge-certificates.ts';
import { findEnrolledEdge, setMachine } from '#db/tables/fleet/enrolled-edges.ts';
import type { Peer } from '#feed/publish/peer.ts';
import { REPLACED_GRACE_MS } from './admission.ts';
import { answerWith, type Issuer, issue, printOf, readKeyOrRefuse } from './enrol.ts';
import type { IdentityAnswer, RenewRequest } from './messages.ts';
import { FleetRefusal } from './refusal.ts';

/** Throws `FleetRefusal`; one with the word `clone` says that two machines have the identity. */
export async function renew(
  issuer: Issuer,
  { peer, request, now }: { readonly peer: Peer; readonly request: RenewRequest; readonly now: number },
): Promise<IdentityAnswer> {
  if (request.serial !== peer.serial)
    throw new FleetRefusal(403, 'serial', 'expected the serial of the certificate that the connection was made with');
  const publicKey = readKeyOrRefuse(request.csr);
  return await issuer.db.transaction(async (trx) => {
    await lockFleet(trx);
    const { edge } = peer;
    const [enrolled, present] = [await findEnrolledEdge(trx, edge), await findEdgeCertificate(trx, peer.serial)];
    // Certificates of the operator's own authority are not in the table.
    if (enrolled === undefined || present === undefined)
      throw new FleetRefusal(403, 'unknown', 'the certificate was not issued by this fleet');
    if (enrolled.revokedAt !== undefined || present.state === 'revoked')
      throw new FleetRefusal(403, 'revoked', 'the certificate has been revoked');
    if (isReplaced(present, now)) throw cloneFound(edge);
    if (enrolled.suspectAt !== undefined) throw cloneFound(edge);
    if (enrolled.machine === '') await setMachine(trx, edge, request.machine);
    else if (enrolled.machine !== request.machine) throw cloneFound(edge);
    if (present.publicKey === printOf(publicKey))
      throw new FleetRefusal(400, 'csr', 'expected a new key, not that of the certificate');
    const issued = await findIssued(trx, { edge }, printOf(publicKey));
    if (issued !== undefined && issued.state !== 'new')
      throw new FleetRefusal(400, 'csr', 'expected a new key, not that of an earlier certificate');
    return await answerWith(
      trx,
      issuer,
      issued ?? (await issue(trx, issuer, { edge, publicKey, tokenId: undefined, now })),
    );
  });
}

/** The connection may be older than the certificate's successor. */
function isReplaced({ state, replacedAt = 0 }: EdgeCertificate, now: number): boolean {
  return state === 'replaced' && Math.abs(now - replacedAt) > REPLACED_GRACE_MS;
}

export function cloneFound(edge: string): FleetRefusal {
  return new FleetRefusal(
    409,
    'clone',
    `two machines have the identity of the edge ${edge}; enrol one of them anew, or choose one with "causeway edge accept ${edge} --serial …", whose serial "causeway edge identity" shows there`,
  );
}
