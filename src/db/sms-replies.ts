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
  const replies: StoredReply[] = [];
  const endedParts: number[] = [];
  for (const reply of received) {
    const last = await trx
      .selectFrom('sms_message')
      .select(['app_id', 'account_id'])
      .where('destination', '=', reply.origin)
      .orderBy('id', 'desc')
      .limit(1)
      .executeTakeFirst();
    replies.push({ ...reply, appId: last?.app_id });
    if (last === undefined || !reply.isOptOut) continue;
    const number = reply.origin;
    await trx
      .insertInto('sms_opt_out')
      .values({ account_id: last.account_id, number, created_at: now })
      .onConflict((conflict) => conflict.doNothing())
      .execute();
    endedParts.push(...(await rejectOptedOut(trx, { accountId: last.account_id, number, now })));
  }
  if (replies.length > 0) await insertReplies(trx, replies, now);
  return { replies, endedParts };
}

async function insertReplies(trx: Transaction<Schema>, replies: readonly StoredReply[], now: number): Promise<void> {
  const rows = replies.map(({ connectorId, appId, origin, text }) => [connectorId, appId ?? null, origin, text, now]);
  await sql`
    insert into sms_reply (connector_id, app_id, origin, text, received_at)
      select cast(value ->> 0 as integer), cast(value ->> 1 as integer), value ->> 2, value ->> 3,
        cast(value ->> 4 as bigint) from ${rowList(trx, rows)}`.execute(trx);
}
