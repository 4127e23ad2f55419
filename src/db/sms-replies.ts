/** What phones send. A reply belongs to the app that wrote to its number last; a word of refusal opts the number out. */
import { sql, type Transaction } from 'kysely';
import { rowList } from './row-list.ts';
import type { Schema } from './schema.ts';
import { rejectOptedOut } from './sms-sweep.ts';

export interface ReceivedReply {
  readonly connectorId: number;
  /** E.164 with `+` where it can be read so. */
  readonly origin: string;
  readonly text: string;
  /** The sender wants no more advertising. */
  readonly isOptOut: boolean;
}

export interface StoredReply extends ReceivedReply {
  /** Absent: nobody here has written to that number. */
  readonly appId: number | undefined;
}

export interface RepliesStored {
  readonly replies: readonly StoredReply[];
  /** That had waited for numbers that opted out. */
  readonly endedParts: readonly number[];
}

export async function storeReplies(
  trx: Transaction<Schema>,
  received: readonly ReceivedReply[],
  now: number,
): Promise<RepliesStored> {
  if (received.length === 0) return { replies: [], endedParts: [] };
  const lastOf = await findLastWriters(trx, [...new Set(received.map(({ origin }) => origin))]);
  const replies = received.map((reply) => ({ ...reply, appId: lastOf.get(reply.origin)?.appId }));
  const optOuts = received.flatMap(({ origin: number, isOptOut }) => {
    const accountId = isOptOut ? lastOf.get(number)?.accountId : undefined;
    return accountId === undefined ? [] : [{ accountId, number }];
  });
  await insertOptOuts(trx, optOuts, now);
  await insertReplies(trx, replies, now);
  return { replies, endedParts: await rejectOptedOut(trx, optOuts, now) };
}

interface Writer {
  readonly appId: number;
  readonly accountId: number;
}

/** Who wrote last to each of these numbers, if anybody did. */
async function findLastWriters(
  trx: Transaction<Schema>,
  numbers: readonly string[],
): Promise<ReadonlyMap<string, Writer>> {
  const list = rowList(
    trx,
    numbers.map((number) => [number]),
  );
  const { rows } = await sql<Writer & { readonly number: string }>`
    select m.destination as number, m.app_id as "appId", m.account_id as "accountId" from sms_message as m
    where m.id in (select (select max(o.id) from sms_message as o where o.destination = value ->> 0) from ${list})`.execute(
    trx,
  );
  return new Map(rows.map(({ number, ...writer }) => [number, writer]));
}

async function insertReplies(trx: Transaction<Schema>, replies: readonly StoredReply[], now: number): Promise<void> {
  const rows = replies.map(({ connectorId, appId, origin, text }) => [connectorId, appId ?? null, origin, text, now]);
  await sql`
    insert into sms_reply (connector_id, app_id, origin, text, received_at)
      select cast(value ->> 0 as integer), cast(value ->> 1 as integer), value ->> 2, value ->> 3,
        cast(value ->> 4 as bigint) from ${rowList(trx, rows)}`.execute(trx);
}

/** One that is there already stays. `accountId` 0: of everybody. */
export async function insertOptOuts(
  trx: Transaction<Schema>,
  optOuts: readonly { readonly accountId: number; readonly number: string }[],
  now: number,
): Promise<void> {
  if (optOuts.length === 0) return;
  const rows = optOuts.map(({ accountId, number }) => [accountId, number]);
  await sql`
    insert into sms_opt_out (account_id, number, created_at)
      select cast(value ->> 0 as integer), value ->> 1, cast(${now} as bigint) from ${rowList(trx, rows)} where true
      on conflict do nothing`.execute(trx);
}
