/** What operators see and do of edges. docs/decisions/0598, 0600 */

import { ServiceError } from '#contract/errors/service-error.ts';
import type { RouteName } from '#contract/routes.ts';
import { findEdgeView, listEdgeViews } from '#db/tables/edges.ts';
import { drainEdge, removeEdge, undrainEdge } from '#db/tables/fleet/edge-orders.ts';
import { listFleetEvents } from '#db/tables/fleet/events.ts';
import { readExposure } from '#db/tables/fleet/exposure.ts';
import { readFleetStatus } from '#db/tables/fleet/status.ts';
import { readConfigHead } from '#db/tables/resources.ts';
import type { EdgeView } from '#model/edge.ts';
import { type EdgeAction, type EdgeState, edgeTransition } from '#model/edge-state.ts';
import type { Call, Handler } from './handler.ts';

export const EDGE_OPERATOR_HANDLERS = {
  'edgeOperator.list': async ({ db, now }, { group, state, limit, offset }) => {
    const { revision } = await readConfigHead(db.query);
    const all = await listEdgeViews(db.query, now);
    const matching = all.filter(
      (edge) => (group === undefined || edge.group === group) && (state === undefined || edge.state === state),
    );
    return { total: matching.length, edges: matching.slice(offset, offset + limit), headRevision: revision };
  },

  'edgeOperator.get': async (call, { edgeId }) => {
    const { revision } = await readConfigHead(call.db.query);
    return { edge: await findEdgeOrRefuse(call, edgeId), headRevision: revision };
  },

  'edgeOperator.setState': async (call, asked) => {
    await act(call, asked);
    return (await findEdgeOrRefuse(call, asked.edgeId)).state;
  },

  'edgeOperator.status': ({ db, now }) => readFleetStatus(db.query, now),

  'edgeOperator.events': ({ db }, filter) => listFleetEvents(db.query, filter),

  'edgeOperator.exposure': async ({ db }, { edge, ...page }) => {
    const exposure = await readExposure(db.query, edge, page);
    if (exposure === undefined) throw new ServiceError('edgeNotFound', { edge });
    return exposure;
  },
} satisfies { readonly [N in RouteName as N extends `edgeOperator.${string}` ? N : never]: Handler<N> };

interface AskedAction {
  readonly edgeId: string;
  readonly action: EdgeAction;
  readonly isForced: boolean;
}

async function act(call: Call, { edgeId, action, isForced }: AskedAction): Promise<void> {
  const { db, now, actor } = call;
  const edge = await findEdgeOrRefuse(call, edgeId);
  switch (edgeTransition(edge.state, action)) {
    case 'same':
      return;
    case 'refused':
      throw new ServiceError('edgeGone', { edge: edgeId, state: edge.state, action });
    case 'forced':
      if (!isForced) throw new ServiceError('edgeReady', { edge: edgeId });
      break;
    case 'allowed':
      break;
  }
  if (action === 'undrain' && edge.drainsItself) throw new ServiceError('edgeDrainsItself', { edge: edgeId });
  const order = { edge: edgeId, at: now, detail: detailOf(edge.state, isForced), actor };
  await db.transaction((trx) => ORDERS[action](trx, order));
}

const ORDERS = { drain: drainEdge, undrain: undrainEdge, remove: removeEdge } as const;

function detailOf(state: EdgeState, isForced: boolean): string {
  return isForced ? `while ${state}, by force` : `while ${state}`;
}

async function findEdgeOrRefuse({ db, now }: Call, edge: string): Promise<EdgeView> {
  const found = await findEdgeView(db.query, edge, now);
  if (found === undefined) throw new ServiceError('edgeNotFound', { edge });
  return found;
}
