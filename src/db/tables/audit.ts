/** The audit trail: events are added in the transaction of what they tell, and never changed. docs/decisions/0623 */
import type { Transaction } from 'kysely';
import type { AuditActor, AuditChange, AuditEvent, AuditMembers, AuditOccasion, AuditTarget } from '#model/audit.ts';
import { memoryOf } from '../engines/db-memory.ts';
import type { AuditEventRow, Executor, Schema } from '../schema/schema.ts';

/** Must run in the transaction that makes the changes. */
export async function addAuditEvents(
  trx: Transaction<Schema>,
  occasion: AuditOccasion,
  changes: readonly AuditChange[],
): Promise<void> {
  if (changes.length === 0) return;
  await trx
    .insertInto('audit_event')
    .values(changes.map((change) => toColumns(occasion, change)))
    .execute();
}

/**
 * Says what the transaction of a call changes, instead of what the call asked for; nothing, if `changes` is empty. Outside
 * of calls it has no effect: the service adds events of its own acts itself.
 */
export function noteChanges(trx: Transaction<Schema>, changes: readonly AuditChange[]): void {
  const { notes } = memoryOf(trx);
  notes.set(trx, [...(notes.get(trx) ?? []), ...changes]);
}

/** Notes that the transaction changes nothing; returns `outcome`. */
export function unchanged<const T>(trx: Transaction<Schema>, outcome: T): T {
  noteChanges(trx, []);
  return outcome;
}

/** Returns what the transaction has noted since this was last asked; `undefined` if it has said nothing. */
export function takeNotedChanges(trx: Transaction<Schema>): readonly AuditChange[] | undefined {
  const { notes } = memoryOf(trx);
  const noted = notes.get(trx);
  notes.delete(trx);
  return noted;
}

export interface AuditFilter {
  /** Owner; absent: all of them, and what only operators own. */
  readonly accountId?: number | undefined;
  readonly tokenId?: number | undefined;
  /** Begin of the operation's name. */
  readonly operation?: string | undefined;
  readonly targetKind?: string | undefined;
  readonly targetId?: string | undefined;
  readonly from?: number | undefined;
  readonly until?: number | undefined;
  /** Only events before the one with this id. */
  readonly before?: number | undefined;
  readonly limit: number;
}

/** Newest first. */
export async function listAuditEvents(x: Executor, filter: AuditFilter): Promise<readonly AuditEvent[]> {
  const { accountId, tokenId, operation, targetKind, targetId, from, until, before, limit } = filter;
  const rows = await x
    .selectFrom('audit_event')
    .selectAll()
    .$if(accountId !== undefined, (query) => query.where('account_id', '=', accountId ?? 0))
    .$if(tokenId !== undefined, (query) => query.where('token_id', '=', tokenId ?? 0))
    .$if(operation !== undefined, (query) => query.where('operation', '=', operation ?? ''))
    .$if(targetKind !== undefined, (query) => query.where('target_kind', '=', targetKind ?? ''))
    .$if(targetId !== undefined, (query) => query.where('target_id', '=', targetId ?? ''))
    .$if(from !== undefined, (query) => query.where('at', '>=', from ?? 0))
    .$if(until !== undefined, (query) => query.where('at', '<=', until ?? 0))
    .$if(before !== undefined, (query) => query.where('id', '<', before ?? 0))
    .orderBy('id', 'desc')
    .limit(limit)
    .execute();
  return rows.map(toEvent);
}

/** `accountId` absent: of any owner. */
export async function findAuditEvent(
  x: Executor,
  { id, accountId }: { readonly id: number; readonly accountId?: number | undefined },
): Promise<AuditEvent | undefined> {
  const row = await x.selectFrom('audit_event').selectAll().where('id', '=', id).executeTakeFirst();
  return row === undefined || (accountId !== undefined && row.account_id !== accountId) ? undefined : toEvent(row);
}

/** The events that made revisions of a domain's settings, by revision. */
export async function listAuditEventsOf(
  x: Executor,
  domainId: number,
  revisions: readonly number[],
): Promise<ReadonlyMap<number, AuditEvent>> {
  if (revisions.length === 0) return new Map();
  const rows = await x
    .selectFrom('audit_event')
    .selectAll()
    .where('target_kind', '=', 'domain')
    .where('target_id', '=', String(domainId))
    .where('revision', 'in', revisions)
    .execute();
  return new Map(rows.map((row) => [row.revision ?? 0, toEvent(row)]));
}

/** Deletes events older than `before`. */
export async function pruneAuditEvents(trx: Transaction<Schema>, before: number): Promise<void> {
  await trx.deleteFrom('audit_event').where('at', '<', before).execute();
}

function toColumns({ at, actor, operation, requestId }: AuditOccasion, change: AuditChange) {
  return {
    at,
    account_id: change.accountId ?? null,
    actor: actor.kind,
    actor_name: actor.name,
    actor_account_id: actor.accountId ?? null,
    token_id: actor.tokenId ?? null,
    person_id: actor.personId ?? null,
    session_id: actor.sessionId === undefined ? null : String(actor.sessionId),
    address: actor.address,
    operation,
    target_kind: change.target.kind,
    target_id: change.target.id,
    target_name: change.target.name,
    before: JSON.stringify(change.before),
    after: JSON.stringify(change.after),
    revision: change.revision ?? null,
    request_id: requestId,
  };
}

/** `as`: these columns are written by this file only, from the same types. */
function toEvent(row: AuditEventRow): AuditEvent {
  return {
    id: row.id,
    at: row.at,
    accountId: row.account_id ?? undefined,
    actor: {
      kind: row.actor as AuditActor['kind'],
      name: row.actor_name,
      accountId: row.actor_account_id ?? undefined,
      tokenId: row.token_id ?? undefined,
      personId: row.person_id ?? undefined,
      sessionId: row.session_id === null ? undefined : Number(row.session_id),
      address: row.address,
    },
    operation: row.operation,
    target: { kind: row.target_kind as AuditTarget['kind'], id: row.target_id, name: row.target_name },
    before: JSON.parse(row.before) as AuditMembers,
    after: JSON.parse(row.after) as AuditMembers,
    revision: row.revision ?? undefined,
    requestId: row.request_id,
  };
}
