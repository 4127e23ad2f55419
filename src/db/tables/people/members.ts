/** Memberships: the roles of people in accounts. docs/decisions/0662 */
import type { Transaction } from 'kysely';
import type { AccountMembership, Role } from '#model/person.ts';
import { lockInTransaction } from '../../engines/engine.ts';
import type { Executor, Schema } from '../../schema/schema.ts';

/** Replaces the role of a person who is a member already. */
export async function saveMembership(trx: Transaction<Schema>, membership: AccountMembership): Promise<void> {
  const { personId, accountId, role, invitedBy, createdAt } = membership;
  await trx
    .insertInto('membership')
    .values({ person_id: personId, account_id: accountId, role, invited_by: invitedBy, created_at: createdAt })
    .onConflict((conflict) =>
      conflict.columns(['person_id', 'account_id']).doUpdateSet({ role, invited_by: invitedBy }),
    )
    .execute();
}

/** Locks the members of an account until the transaction ends. */
export async function lockMembers(trx: Transaction<Schema>, accountId: number): Promise<void> {
  await lockInTransaction(trx, `members:${accountId}`);
}

export async function findMembership(
  x: Executor,
  { personId, accountId }: Pick<AccountMembership, 'personId' | 'accountId'>,
): Promise<AccountMembership | undefined> {
  const row = await x
    .selectFrom('membership')
    .selectAll()
    .where('person_id', '=', personId)
    .where('account_id', '=', accountId)
    .executeTakeFirst();
  return row && toMembership(row);
}

/** Lists the memberships of a person, the oldest first. */
export async function listMembershipsOf(x: Executor, personId: number): Promise<readonly AccountMembership[]> {
  const rows = await x
    .selectFrom('membership')
    .selectAll()
    .where('person_id', '=', personId)
    .orderBy('created_at')
    .orderBy('account_id')
    .execute();
  return rows.map(toMembership);
}

export async function listMembersOf(x: Executor, accountId: number): Promise<readonly AccountMembership[]> {
  const rows = await x
    .selectFrom('membership')
    .selectAll()
    .where('account_id', '=', accountId)
    .orderBy('created_at')
    .orderBy('person_id')
    .execute();
  return rows.map(toMembership);
}

/** Members with a role, without people who are disabled. */
export async function countMembers(x: Executor, accountId: number, role: Role): Promise<number> {
  const { count } = await x
    .selectFrom('membership')
    .innerJoin('person', 'person.id', 'membership.person_id')
    .where('account_id', '=', accountId)
    .where('role', '=', role)
    .where('disabled_at', 'is', null)
    .select((e) => e.fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow();
  return Number(count);
}

export async function removeMembership(
  x: Executor,
  { personId, accountId }: Pick<AccountMembership, 'personId' | 'accountId'>,
): Promise<void> {
  await x.deleteFrom('membership').where('person_id', '=', personId).where('account_id', '=', accountId).execute();
}

function toMembership(row: {
  readonly person_id: number;
  readonly account_id: number;
  readonly role: string;
  readonly invited_by: string;
  readonly created_at: number;
}): AccountMembership {
  // `as`: this file is the only one that writes roles.
  return {
    personId: row.person_id,
    accountId: row.account_id,
    role: row.role as Role,
    invitedBy: row.invited_by,
    createdAt: row.created_at,
  };
}
