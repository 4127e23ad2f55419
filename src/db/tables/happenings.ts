/** The audit trail and the events together, as what has happened since a position. */
import type { Happening, HintPosition } from '#model/hint.ts';
import type { Executor } from '../schema/schema.ts';

type Table = keyof HintPosition;

/** Ids of the last rows that were made before `before`; 0 where there is none. */
export async function findPositionAt(x: Executor, before: number): Promise<HintPosition> {
  const last = async (table: 'audit_event' | 'event') => {
    const older = x.selectFrom(table).select('id').where('at', '<', before).orderBy('at', 'desc').limit(1);
    return (await older.executeTakeFirst())?.id ?? 0;
  };
  return { audit: await last('audit_event'), event: await last('event') };
}

/** Ids of the last rows; 0 where there is none. */
export async function findHead(x: Executor): Promise<HintPosition> {
  const last = async (table: 'audit_event' | 'event') =>
    (await x.selectFrom(table).select('id').orderBy('id', 'desc').limit(1).executeTakeFirst())?.id ?? 0;
  return { audit: await last('audit_event'), event: await last('event') };
}

/** Rows of one table with higher ids, at most `limit`, by id. `accountId` absent: of all accounts, and the operator's. */
export async function listHappenings(
  x: Executor,
  from: Table,
  {
    after,
    limit,
    accountId,
  }: { readonly after: number; readonly limit: number; readonly accountId?: number | undefined },
): Promise<readonly Happening[]> {
  return from === 'audit' ? await listChanges(x, after, limit, accountId) : await listNews(x, after, limit, accountId);
}

async function listChanges(x: Executor, after: number, limit: number, accountId: number | undefined) {
  const rows = await x
    .selectFrom('audit_event')
    .select(['id', 'at', 'account_id', 'operation', 'target_kind', 'target_id', 'revision'])
    .$if(accountId !== undefined, (query) => query.where('account_id', '=', accountId ?? 0))
    .where('id', '>', after)
    .orderBy('id')
    .limit(limit)
    .execute();
  return rows.map((row): Happening => {
    const { id, at, account_id, operation: what, target_kind: kind, target_id, revision } = row;
    const target = { kind, id: target_id };
    return { from: 'audit', id, at, accountId: account_id ?? undefined, what, target, revision: revision ?? undefined };
  });
}

async function listNews(x: Executor, after: number, limit: number, accountId: number | undefined) {
  const rows = await x
    .selectFrom('event')
    .select(['id', 'at', 'account_id', 'kind', 'target_kind', 'target_id'])
    .$if(accountId !== undefined, (query) => query.where('account_id', '=', accountId ?? 0))
    .where('id', '>', after)
    .orderBy('id')
    .limit(limit)
    .execute();
  return rows.map((row): Happening => {
    const { id, at, account_id, kind: what, target_kind: kind, target_id } = row;
    const target = { kind, id: target_id };
    return { from: 'event', id, at, accountId: account_id ?? undefined, what, target, revision: undefined };
  });
}
