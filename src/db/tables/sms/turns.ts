/**
 * Round-robin: accounts take turns on a connector, so that none waits behind another's whole queue. docs/decisions/0333
 */
import { type RawBuilder, sql, type Transaction } from 'kysely';
import type { Schema } from '../../schema/schema.ts';
import { runBatch } from '../../statements/batch.ts';
import { statement } from '../../statements/statement.ts';

/** Accounts of one queue served in one round; the others follow in the next. */
const MAX_ACCOUNTS = 32;

/** Parts of one route and priority whose number of failures is in a range. */
export interface Queue {
  readonly route: string;
  readonly priority: number;
  readonly minTries: number;
  readonly maxTries: number;
  readonly now: number;
}

/** The values of a queue, or the parameters of a statement for them. */
type QueueParameters = { readonly [K in keyof Queue]: unknown };

/** The account of each priority that had the last turn on a connector. */
export type Turns = readonly number[];

export const NO_TURNS: Turns = [0, 0];

export const QUEUE_VALUES = {
  route: 'value',
  priority: 'value',
  minTries: 'value',
  maxTries: 'value',
  now: 'value',
} as const;

/** A condition on `sms_part as p` that is one index range per account. */
function isOf({ route, priority }: QueueParameters): RawBuilder<unknown> {
  return sql`p.state = 'queued' and p.route = ${route} and p.priority = ${priority}`;
}

export function isDueOf(queue: QueueParameters): RawBuilder<unknown> {
  return sql`${isOf(queue)} and p.tries between ${queue.minTries} and ${queue.maxTries} and p.due_at <= ${queue.now}`;
}

/**
 * A condition on `sms_part as p` and its message as `m`: a message of several parts stays with the connector that has
 * taken one of them.
 */
export function isFreeFor(connectorId: unknown): RawBuilder<unknown> {
  return sql`(m.connector_id is null or m.connector_id = ${connectorId}
    or not exists (select 1 from sms_part as q where q.message_id = m.id and q.state <> 'queued'))`;
}

/** The first waiting part in index order, so that only one row is read. */
export const FIRST = sql`order by p.account_id, p.due_at, p.id limit 1`;

/** Selects the first and the last account with parts in a queue, due or not: one index step each. */
export const selectEnds = statement(QUEUE_VALUES, (queue) => {
  const end = (order: RawBuilder<unknown>) =>
    sql`(select p.account_id from sms_part as p where ${isOf(queue)} ${order})`;
  return sql<Ends>`select ${end(FIRST)} as first, ${end(LAST)} as last`;
});

export interface Ends {
  readonly first: number | null;
  readonly last: number | null;
}

const LAST = sql`order by p.account_id desc, p.due_at desc, p.id desc limit 1`;

/**
 * Selects accounts with a due part that the connector may take, at most `limit`, beginning after `after`; one or two
 * index steps each. Other accounts would only occupy places.
 */
const selectTurnsUpTo = statement(
  { ...QUEUE_VALUES, connectorId: 'value', after: 'value', limit: 'value' },
  ({ connectorId, after, limit, ...queue }) => {
    const all = isOf(queue);
    const next = (behind: RawBuilder<unknown>) => sql`coalesce(
    (select p.account_id from sms_part as p where ${all} and p.account_id > ${behind} ${FIRST}),
    (select p.account_id from sms_part as p where ${all} ${FIRST}))`;
    // `union` ends the recursion when it reaches the first account again.
    return sql<{ accountId: number }>`
    with recursive turn (account_id) as (
      select ${next(sql`cast(${after} as integer)`)}
      union select ${next(sql`turn.account_id`)} from turn where turn.account_id is not null)
    select account_id as "accountId" from turn where (
      select p.id from sms_part as p join sms_message as m on m.id = p.message_id
        where ${isDueOf(queue)} and p.account_id = turn.account_id and p.expire_at > ${queue.now} and ${isFreeFor(connectorId)}
        order by p.due_at, p.id limit 1) is not null
    limit ${limit}`;
  },
);

/** The requesting connector and its free capacity. */
interface TurnRequest {
  readonly connectorId: number;
  readonly after: Turns;
  readonly limit: number;
}

/**
 * Returns for each queue the accounts that may have something due. A queue's only account is returned unchecked: the
 * check takes longer than finding nothing due.
 */
export async function readTurns(
  trx: Transaction<Schema>,
  queues: readonly Queue[],
  ends: readonly (Ends | undefined)[],
  { connectorId, after, limit }: TurnRequest,
): Promise<readonly (readonly number[])[]> {
  const crowded = queues.map((queue, n) => {
    const isCrowded = ends[n]?.first !== ends[n]?.last;
    const asked = { connectorId, after: after[queue.priority] ?? 0, limit: Math.min(limit, MAX_ACCOUNTS) };
    return isCrowded ? selectTurnsUpTo({ ...queue, ...asked }) : undefined;
  });
  const turns = crowded.some((one) => one !== undefined) ? await runBatch(trx, crowded) : [];
  return crowded.map((one, n) => {
    const first = ends[n]?.first ?? undefined;
    if (one === undefined) return first === undefined ? [] : [first];
    return (turns[n] ?? []).map(({ accountId }) => accountId);
  });
}

/** Whether further accounts of the queue may have due parts. `accountIds`: the result of `readTurns`. */
export function isCut(accountIds: readonly number[]): boolean {
  return accountIds.length === MAX_ACCOUNTS;
}

/**
 * Interleaves parts, one of each account in turn, beginning after the account `after`; each account's parts keep their
 * order. Pure.
 */
export function takeTurns<T extends { readonly accountId: number }>(parts: readonly T[], after: number): readonly T[] {
  const byAccount = Map.groupBy(parts, ({ accountId }) => accountId);
  if (byAccount.size === 1) return parts;
  const queues = inTurn([...byAccount.keys()], after).map((id) => byAccount.get(id) ?? []);
  const longest = Math.max(0, ...queues.map(({ length }) => length));
  return Array.from({ length: longest }, (_, n) => queues.flatMap((own) => own.slice(n, n + 1))).flat();
}

/** Like `takeTurns`, but an account's turn is a whole message: its parts, which follow one another, stay together. */
export function takeWholeTurns<T extends { readonly accountId: number; readonly messageId: number }>(
  parts: readonly T[],
  after: number,
): readonly T[] {
  const messages = [...Map.groupBy(parts, ({ messageId }) => messageId).values()];
  const turns = messages.flatMap((own) => own.slice(0, 1).map(({ accountId }) => ({ accountId, own })));
  return takeTurns(turns, after).flatMap(({ own }) => own);
}

/**
 * The account that had the last turn, when `served` got the last part. Accounts behind the last one examined in a queue
 * (`cutAt`) are not passed over, even if an account of another queue was served. Pure.
 */
export function lastTurn(after: number, served: number, cutAt: readonly number[]): number {
  return inTurn([served, ...cutAt], after)[0] ?? served;
}

/** Sorts ids in the order of turns: those after `after` first, `after` itself last. */
function inTurn(accountIds: readonly number[], after: number): readonly number[] {
  const isLater = (id: number) => (id > after ? 0 : 1);
  return accountIds.toSorted((a, b) => isLater(a) - isLater(b) || a - b);
}
