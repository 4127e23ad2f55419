/** Recovery codes, which stand in for a second factor once each. docs/decisions/0664 */
import type { Transaction } from 'kysely';
import type { Executor, Schema } from '../../schema/schema.ts';

/** Replaces the codes that there are. None, if `hashes` is empty. */
export async function saveRecoveryCodes(
  trx: Transaction<Schema>,
  personId: number,
  hashes: readonly string[],
): Promise<void> {
  await trx.deleteFrom('recovery_code').where('person_id', '=', personId).execute();
  if (hashes.length === 0) return;
  await trx
    .insertInto('recovery_code')
    .values(hashes.map((hash) => ({ person_id: personId, hash })))
    .execute();
}

/** Counts a code once: returns false if the person has no such code, or has used it. */
export async function takeRecoveryCode(x: Executor, personId: number, hash: string): Promise<boolean> {
  const row = await x
    .deleteFrom('recovery_code')
    .where('person_id', '=', personId)
    .where('hash', '=', hash)
    .returning('hash')
    .executeTakeFirst();
  return row !== undefined;
}

export async function countRecoveryCodes(x: Executor, personId: number): Promise<number> {
  const { count } = await x
    .selectFrom('recovery_code')
    .where('person_id', '=', personId)
    .select((e) => e.fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow();
  return Number(count);
}
