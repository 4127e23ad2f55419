/** Events of the fleet, kept for 90 days. */
import type { Transaction } from 'kysely';
import { DAY_MS } from '#lib/durations.ts';
import type { FleetEvent, FleetEventKind } from '#model/fleet-event.ts';
import type { Executor, FleetEventRow, Schema } from '../../schema/schema.ts';

const EVENT_KEEP_MS = 90 * DAY_MS;

/** Must run in the transaction that makes it true. */
export async function addFleetEvent(trx: Transaction<Schema>, event: FleetEvent): Promise<void> {
  await trx.insertInto('fleet_event').values(event).execute();
}

export interface FleetEventFilter {
  /** Absent: of all edges. */
  readonly edge?: string | undefined;
  readonly limit: number;
  readonly offset: number;
}

/** Returns one page, newest first, and the total of all pages. */
export async function listFleetEvents(
  x: Executor,
  { edge, limit, offset }: FleetEventFilter,
): Promise<{ readonly total: number; readonly events: readonly FleetEvent[] }> {
  let matching = x.selectFrom('fleet_event');
  if (edge !== undefined) matching = matching.where('edge', '=', edge);
  const { total } = await matching.select((e) => e.fn.countAll<number>().as('total')).executeTakeFirstOrThrow();
  const rows = await matching.selectAll().orderBy('id', 'desc').limit(limit).offset(offset).execute();
  return { total: Number(total), events: rows.map(toEvent) };
}

export async function pruneFleetEvents(trx: Transaction<Schema>, now: number): Promise<void> {
  await trx
    .deleteFrom('fleet_event')
    .where('at', '<', now - EVENT_KEEP_MS)
    .execute();
}

function toEvent({ at, edge, event, detail, actor }: FleetEventRow): FleetEvent {
  // `as`: written by `addFleetEvent` only.
  return { at, edge, event: event as FleetEventKind, detail, actor };
}
