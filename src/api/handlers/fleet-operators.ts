/** What operators do to the identities of edges. docs/decisions/0582 to 0584 */
import { X509Certificate } from 'node:crypto';
import { ServiceError } from '#contract/errors/service-error.ts';
import type { RouteName } from '#contract/routes.ts';
import { listAuthorities, readFleet } from '#db/tables/fleet/authorities.ts';
import { listEdgeTokens, revokeEdgeToken } from '#db/tables/fleet/edge-tokens.ts';
import { pinOf } from '#fleet/authority.ts';
import { acceptEdge, addEdge, createEdgeToken, revokeEdge } from '#fleet/operate.ts';
import { beginRotation, finishRotation, type RotationStep } from '#fleet/rotate-authority.ts';
import type { Handler } from './handler.ts';

export const FLEET_OPERATOR_HANDLERS = {
  'fleetOperator.createToken': async ({ db, keyring, now, hasOwnFleetAuthority }, { validMs, ...order }) => {
    if (hasOwnFleetAuthority) throw new ServiceError('fleetHasNoTokens');
    if (order.edge !== undefined && order.uses > 1) throw new ServiceError('edgeTokenUses');
    if (order.edge === undefined && order.replaces) throw new ServiceError('edgeTokenReplace');
    const expiresAt = now + validMs;
    const created = await createEdgeToken({ db, ring: keyring, now }, { ...order, expiresAt });
    if (created === undefined) throw new ServiceError('groupNotFound', { group: order.group });
    return { ...created, expiresAt };
  },

  'fleetOperator.listTokens': ({ db }) => listEdgeTokens(db.query),

  'fleetOperator.revokeToken': async ({ db, now }, { tokenId }) => {
    await db.transaction(async (trx) => {
      if (!(await revokeEdgeToken(trx, tokenId, now))) throw new ServiceError('edgeTokenNotFound', { tokenId });
    });
  },

  'fleetOperator.addEdge': async ({ db, now, actor }, order) => {
    const addition = await addEdge(db, { ...order, now, actor });
    if (addition === 'groupUnknown') throw new ServiceError('groupNotFound', { group: order.group });
    if (addition === 'edgeExists') throw new ServiceError('edgeEnrolled', { edge: order.edge });
  },

  'fleetOperator.revokeEdge': async ({ db, now, actor }, { edgeId: edge, reason = '' }) => {
    if (!(await revokeEdge(db, { edge, reason, now, actor }))) throw new ServiceError('edgeNotEnrolled', { edge });
  },

  'fleetOperator.acceptEdge': async ({ db, now, actor }, { edgeId: edge, serial }) => {
    const decision = await acceptEdge(db, { edge, serial, now, actor });
    if (decision === 'edgeUnknown') throw new ServiceError('edgeNotEnrolled', { edge });
    if (decision === 'serialUnknown') throw new ServiceError('edgeSerialUnknown', { edge });
  },

  'fleetOperator.getAuthority': async ({ db }) => {
    const { name } = await readFleet(db.query);
    const authorities = await listAuthorities(db.query);
    return {
      fleet: name,
      authorities: authorities.map(({ key, certificate }) => {
        const read = new X509Certificate(certificate);
        return { key, certificate, pin: pinOf(read), expiresAt: read.validToDate.getTime() };
      }),
    };
  },

  'fleetOperator.rotateAuthority': async ({ db, keyring, now, fleetGraceMs: graceMs }, { step }) =>
    keyOf(step === 'begin' ? await beginRotation(db, keyring, now) : await finishRotation(db, { now, graceMs })),
} satisfies { readonly [N in RouteName as N extends `fleetOperator.${string}` ? N : never]: Handler<N> };

/** Returns the key of the new authority. */
function keyOf(step: RotationStep): string {
  switch (step.kind) {
    case 'begun':
    case 'finished':
      return step.key;
    case 'noAuthority':
      throw new ServiceError('fleetCaMissing');
    case 'underWay':
      throw new ServiceError('fleetCaUnderWay');
    case 'notBegun':
      throw new ServiceError('fleetCaNotBegun');
    case 'inUse':
      throw new ServiceError('fleetCaInUse', { edges: namesOf(step.edges), tokens: namesOf(step.tokens) });
  }
}

/** Limit of names in an error. */
const MAX_NAMED = 20;

function namesOf(list: readonly (string | number)[]): string {
  const named = list.slice(0, MAX_NAMED).join(', ') || '-';
  return list.length > MAX_NAMED ? `${named}, … (${list.length})` : named;
}
