/** Settles the held price of a part: charged once or refunded once, never both. */
import { sql, type Transaction } from 'kysely';
import type { ChargeAt, PartState } from '#model/sms-part.ts';
import type { Schema } from '../../schema/schema.ts';
import { inIds } from '../../statements/lists.ts';
import { statement } from '../../statements/statement.ts';
import { stateOf } from './part-state.ts';

export interface EndedPart {
  readonly id: number;
  readonly state: PartState;
}

/**
 * Settles parts that ended by a receipt or for lack of one. With `submit` they are charged, most of them already, since
 * the carrier has taken them or may have. With `receipt` only delivered parts are charged, and the others refunded. An
 * earlier charge stands. docs/decisions/0350
 */
export async function settleParts(
  trx: Transaction<Schema>,
  ended: readonly EndedPart[],
  chargeAt: ChargeAt,
  now: number,
): Promise<void> {
  const { paid = [], unpaid = [] } = Object.groupBy(ended, ({ state }) =>
    chargeAt === 'submit' || state === 'delivered' ? 'paid' : 'unpaid',
  );
  await chargeParts(trx, idsOf(paid), now);
  await refundParts(trx, idsOf(unpaid), now);
}

function idsOf(parts: readonly EndedPart[]): readonly number[] {
  return parts.map(({ id }) => id);
}

/** Charges held prices. The balance does not change, since the hold reduced it. */
async function chargeParts(trx: Transaction<Schema>, partIds: readonly number[], now: number): Promise<void> {
  if (partIds.length === 0) return;
  await sql`
    insert into sms_ledger (account_id, part_id, kind, amount, created_at)
      select account_id, part_id, 'charge', 0, cast(${now} as bigint) from sms_ledger where kind = 'hold' and part_id ${inIds(trx, partIds)}
      on conflict (part_id, kind) do nothing`.execute(trx);
}

/**
 * Charges those of the parts that are in this state. Only parts with a hold have it, and they are charged on entering
 * it. Run it in the same batch as the statement that sets the state.
 */
export const chargeSubmitted = chargeThoseThatAre('submitted');
export const chargeSimulated = chargeThoseThatAre('simulated');

function chargeThoseThatAre(state: PartState) {
  return statement({ partIds: 'ids', now: 'value' }, ({ partIds, now }) => {
    return sql`
      insert into sms_ledger (account_id, part_id, kind, amount, created_at)
        select account_id, id, 'charge', 0, cast(${now} as bigint) from sms_part where id ${partIds} and ${stateOf('sms_part')} = ${sql.lit(state)}
        on conflict (part_id, kind) do nothing`;
  });
}

/** Refunds prices that are held for these parts and not charged. Idempotent. */
export async function refundParts(trx: Transaction<Schema>, partIds: readonly number[], now: number): Promise<void> {
  if (partIds.length === 0) return;
  const { rows } = await sql<{ accountId: number; amount: number }>`
    insert into sms_ledger (account_id, part_id, kind, amount, created_at)
      select account_id, part_id, 'refund', -amount, cast(${now} as bigint) from sms_ledger as hold
      where kind = 'hold' and part_id ${inIds(trx, partIds)}
        and not exists (select 1 from sms_ledger as c where c.part_id = hold.part_id and c.kind = 'charge')
      on conflict (part_id, kind) do nothing
      returning account_id as "accountId", amount as amount`.execute(trx);
  const sums = new Map<number, number>();
  for (const { accountId, amount } of rows) sums.set(accountId, (sums.get(accountId) ?? 0) + amount);
  // A fixed order prevents deadlocks between concurrent refunds.
  for (const [accountId, sum] of [...sums].sort(([a], [b]) => a - b))
    await sql`update sms_balance set balance = balance + ${sum} where account_id = ${accountId}`.execute(trx);
}
