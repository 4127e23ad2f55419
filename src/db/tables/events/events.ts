/** Events of the service, kept for 90 days. */
import type { Transaction } from 'kysely';
import { DAY_MS } from '#lib/durations.ts';
import {
  EVENT_KINDS,
  type EventData,
  type EventKind,
  type EventTarget,
  type NewServiceEvent,
  type ServiceEvent,
  type Severity,
} from '#model/event.ts';
import type { EventRow, Executor, Schema } from '../../schema/schema.ts';
import { queueEvent } from './webhooks.ts';

const EVENT_KEEP_MS = 90 * DAY_MS;

/** Adds an event, and its deliveries to webhooks. Must run in the transaction that makes it true. */
export async function addEvent(trx: Transaction<Schema>, event: NewServiceEvent): Promise<void> {
  const { at, kind, accountId, target, actor, data } = event;
  const severity = EVENT_KINDS[kind];
  const { id } = await trx
    .insertInto('event')
    .values({
      at,
      kind,
      severity,
      account_id: accountId ?? null,
      target_kind: target.kind,
      target_id: target.id,
      target_name: target.name,
      actor,
      data: JSON.stringify(data),
    })
    .returning('id')
    .executeTakeFirstOrThrow();
  await queueEvent(trx, { ...event, id, severity });
}

export interface EventFilter {
  /** Absent: of all accounts, and the operator's. */
  readonly accountId?: number | undefined;
  /** Absent: of all kinds. */
  readonly kinds?: readonly EventKind[] | undefined;
  readonly severity?: Severity | undefined;
  /** Absent: about everything. */
  readonly target?: Pick<EventTarget, 'kind' | 'id'> | undefined;
  readonly limit: number;
  readonly offset: number;
}

/** Returns one page, newest first, and the total of all pages. */
export async function listEvents(
  x: Executor,
  { accountId, kinds, severity, target, limit, offset }: EventFilter,
): Promise<{ readonly total: number; readonly events: readonly ServiceEvent[] }> {
  let matching = x.selectFrom('event');
  if (accountId !== undefined) matching = matching.where('account_id', '=', accountId);
  if (kinds !== undefined) matching = matching.where('kind', 'in', kinds);
  if (severity !== undefined) matching = matching.where('severity', '=', severity);
  if (target !== undefined)
    matching = matching.where('target_kind', '=', target.kind).where('target_id', '=', target.id);
  const { total } = await matching.select((e) => e.fn.countAll<number>().as('total')).executeTakeFirstOrThrow();
  const rows = await matching.selectAll().orderBy('id', 'desc').limit(limit).offset(offset).execute();
  return { total: Number(total), events: rows.map(toEvent) };
}

export async function pruneEvents(trx: Transaction<Schema>, now: number): Promise<void> {
  await trx
    .deleteFrom('event')
    .where('at', '<', now - EVENT_KEEP_MS)
    .execute();
}

function toEvent(row: EventRow): ServiceEvent {
  const { id, at, actor } = row;
  return {
    id,
    at,
    // `as`, four times: written by `addEvent` and the migration only.
    kind: row.kind as EventKind,
    severity: row.severity as Severity,
    accountId: row.account_id ?? undefined,
    target: { kind: row.target_kind as EventTarget['kind'], id: row.target_id, name: row.target_name },
    actor,
    data: JSON.parse(row.data) as EventData,
  };
}
