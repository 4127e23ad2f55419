/** Orders of operators about edges, and the states that control has noticed, each with its event. */
import type { Transaction } from 'kysely';
import { EDGE_KIND, type EdgeOrders } from '#model/edge-orders.ts';
import type { EdgeState } from '#model/edge-state.ts';
import type { FleetEvent } from '#model/fleet-event.ts';
import type { Schema } from '../../schema/schema.ts';
import { publish } from '../resources.ts';
import { endViewKey } from '../view-keys.ts';
import { noteFleetChange } from './authorities.ts';
import { revokeCertificates } from './edge-certificates.ts';
import { publishPlace } from './edge-places.ts';
import { setRevoked } from './enrolled-edges.ts';
import { addFleetEvent } from './events.ts';

type Order = Omit<FleetEvent, 'event'>;

/**
 * Drains an edge: the edge itself learns it by the feed, and keeps it over restarts. `at` is when; the time of an
 * earlier order stays.
 */
export async function drainEdge(trx: Transaction<Schema>, order: Order): Promise<void> {
  const { edge, at } = order;
  await trx.updateTable('edge').set({ drain_at: at }).where('id', '=', edge).where('drain_at', 'is', null).execute();
  await addFleetEvent(trx, { ...order, event: 'drain' });
  const body: EdgeOrders = { isDraining: true };
  await publish(trx, [{ kind: EDGE_KIND, key: edge, op: 'put', body }], at);
}

export async function undrainEdge(trx: Transaction<Schema>, order: Order): Promise<void> {
  await withdrawDrain(trx, order.edge, order.at);
  await addFleetEvent(trx, { ...order, event: 'undrain' });
}

/** Withdraws all that is published of an edge: one that is enrolled again under the id begins without it. */
export async function withdrawEdge(trx: Transaction<Schema>, edge: string, now: number): Promise<void> {
  await withdrawDrain(trx, edge, now);
  await publishPlace(trx, edge, undefined, now);
}

/** Withdraws the order to drain, if there is one. */
async function withdrawDrain(trx: Transaction<Schema>, edge: string, now: number): Promise<void> {
  const drained = await trx
    .updateTable('edge')
    .set({ drain_at: null })
    .where('id', '=', edge)
    .where('drain_at', 'is not', null)
    .returning('id')
    .executeTakeFirst();
  if (drained !== undefined) await publish(trx, [{ kind: EDGE_KIND, key: edge, op: 'delete' }], now);
}

/**
 * Removes an edge: its certificates no longer work, and it is no longer counted. An edge on control's own machine that
 * still runs comes back with its next report.
 */
export async function removeEdge(trx: Transaction<Schema>, order: Order): Promise<void> {
  const { edge, at } = order;
  const former = await trx.selectFrom('edge').select('group_name').where('id', '=', edge).executeTakeFirst();
  await trx.updateTable('edge').set({ removed_at: at }).where('id', '=', edge).execute();
  await setRevoked(trx, edge, 'removed', at);
  await revokeCertificates(trx, edge);
  if (former !== undefined) await endViewKey(trx, former.group_name, at);
  await noteFleetChange(trx);
  await addFleetEvent(trx, { ...order, event: 'remove' });
  await withdrawEdge(trx, edge, at);
}

/** Saves a noticed state, with its event. Of several controls, one does; the others change nothing. */
export async function noteEdgeState(
  trx: Transaction<Schema>,
  { edge, before, state, at }: { edge: string; before: EdgeState | ''; state: EdgeState; at: number },
): Promise<void> {
  const noted = await trx
    .updateTable('edge')
    .set({ state, state_at: at })
    .where('id', '=', edge)
    .where('state', '=', before)
    .returning('id')
    .executeTakeFirst();
  if (noted === undefined) return;
  const detail = before === '' ? state : `${before} → ${state}`;
  await addFleetEvent(trx, { at, edge, event: 'state', detail, actor: 'control' });
}
