/**
 * Messages from carriers that could not be parsed: acknowledged, and kept as received for operators.
 * docs/decisions/0420
 */
import { sql, type Transaction } from 'kysely';
import { DAY_MS } from '#lib/durations.ts';
import type { Executor, Schema } from '../../schema/schema.ts';
import { rowList } from '../../statements/lists.ts';

export interface ReceivedUnread {
  readonly connectorId: number;
  readonly reason: string;
  /** SMPP name of the command, such as `deliver_sm`. */
  readonly command: string;
  /** The octets in hexadecimal. */
  readonly octets: string;
}

/** Rows kept in 24 hours, of all connectors together: a faulty carrier must not fill the disk. */
const MAX_PER_DAY = 1_000;

/** Stores messages, at most 1,000 in 24 hours. Returns how many were stored. */
export async function storeUnread(
  trx: Transaction<Schema>,
  received: readonly ReceivedUnread[],
  now: number,
): Promise<number> {
  if (received.length === 0) return 0;
  const { count } = await trx
    .selectFrom('sms_unread')
    .select((e) => e.fn.countAll<number | string>().as('count'))
    .where('received_at', '>', now - DAY_MS)
    .executeTakeFirstOrThrow();
  const kept = received.slice(0, Math.max(0, MAX_PER_DAY - Number(count)));
  const rows = kept.map(({ connectorId, reason, command, octets }) => [connectorId, reason, command, octets, now]);
  await sql`
    insert into sms_unread (connector_id, reason, command, octets, received_at)
      select cast(value ->> 0 as integer), value ->> 1, value ->> 2, value ->> 3, cast(value ->> 4 as bigint)
      from ${rowList(trx, rows)}`.execute(trx);
  return kept.length;
}

export interface UnreadView {
  readonly id: number;
  /** Name of the connector; absent if it was deleted. */
  readonly connector: string | undefined;
  readonly reason: string;
  readonly command: string;
  readonly octets: string;
  readonly receivedAt: number;
}

/** Lists messages, newest first. `before`: only rows with a lower id. */
export async function listUnread(
  x: Executor,
  { before, limit }: { readonly before: number | undefined; readonly limit: number },
): Promise<readonly UnreadView[]> {
  const rows = await x
    .selectFrom('sms_unread as u')
    .leftJoin('sms_connector as c', 'c.id', 'u.connector_id')
    .select(['u.id', 'c.name as connector', 'u.reason', 'u.command', 'u.octets', 'u.received_at as receivedAt'])
    .$if(before !== undefined, (query) => query.where('u.id', '<', before ?? 0))
    .orderBy('u.id', 'desc')
    .limit(limit)
    .execute();
  return rows.map(({ connector, ...row }) => ({ ...row, connector: connector ?? undefined }));
}
