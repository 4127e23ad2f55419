/** What becomes of the price that was held for a part: charged once, or given back once; never both. */
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
 * Settles parts that ended by a receipt, or because none came. With `submit` they are charged, most of them already:
 * the carrier has taken them, or may have. With `receipt` only delivered parts are charged, the others refunded. An
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

/** The price is the service's from now on. It left the balance when it was held. */
async function chargeParts(trx: Transaction<Schema>, partIds: readonly number[], now: number): Promise<void> {
  if (partIds.length === 0) return;
  await sql`
    insert into sms_ledger (account_id, part_id, kind, amount, created_at)
      select account_id, part_id, 'charge', 0, cast(${now} as bigint) from sms_ledger where kind = 'hold' and part_id ${inIds(trx, partIds)}
      on conflict (part_id, kind) do nothing`.execute(trx);
}

/**
 * The same of those of the parts that have this state, which only parts have whose price was held and that are charged with it.
 * To be run together with what gives it to them.
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

/** Refunds what is held for these parts and not charged; a second call refunds nothing. */
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
  // In the order of accounts: two processes that refund at once do not wait for each other in a circle.
  for (const [accountId, sum] of [...sums].sort(([a], [b]) => a - b))
    await sql`update sms_balance set balance = balance + ${sum} where account_id = ${accountId}`.execute(trx);
}
