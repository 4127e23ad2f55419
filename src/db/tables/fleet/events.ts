/** Events of the fleet: those of the service that are about edges and the actions on them. */
import type { Transaction } from 'kysely';
import { EDGE_EVENT_KINDS, type FleetEvent, toEventKind, toFleetEventKind } from '#model/fleet-event.ts';
import type { Executor, Schema } from '../../schema/schema.ts';
import { addEvent, listEvents } from '../events/events.ts';

/** Must run in the transaction that makes it true. */
export async function addFleetEvent(
  trx: Transaction<Schema>,
  { at, edge, event, detail, actor }: FleetEvent,
): Promise<void> {
  const target = { kind: 'edge', id: edge, name: edge } as const;
  await addEvent(trx, { at, kind: toEventKind(event, detail), target, actor, data: { detail } });
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
  const target = edge === undefined ? undefined : ({ kind: 'edge', id: edge } as const);
  const { total, events } = await listEvents(x, { kinds: EDGE_EVENT_KINDS, target, limit, offset });
  return {
    total,
    events: events.map(({ at, kind, target: { id }, actor, data }) => {
      return { at, edge: id, event: toFleetEventKind(kind), detail: String(data['detail'] ?? ''), actor };
    }),
  };
}
