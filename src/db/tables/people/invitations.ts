/** Links that are good once: to become a member of an account, or to set a new password. docs/decisions/0665 */
import type { Transaction } from 'kysely';
import type { Role } from '#model/person.ts';
import type { Executor, InvitationRow, Schema } from '../../schema/schema.ts';

export interface Invitation {
  readonly id: number;
  readonly email: string;
  /** The account to become a member of, and the role there. Absent: a link for a new password. */
  readonly membership?: { readonly accountId: number; readonly role: Role };
  /** The person who gets a new password. Absent: an invitation. */
  readonly personId?: number;
  /** Second factors are removed with the password. */
  readonly clearsFactors: boolean;
  /** `person:3`, `token:7`. */
  readonly invitedBy: string;
  readonly createdAt: number;
  readonly expiresAt: number;
}

export async function addInvitation(
  trx: Transaction<Schema>,
  { hash, ...invitation }: Omit<Invitation, 'id'> & { readonly hash: string },
): Promise<Invitation> {
  const row = await trx
    .insertInto('invitation')
    .values({
      hash,
      account_id: invitation.membership?.accountId ?? null,
      person_id: invitation.personId ?? null,
      email: invitation.email,
      role: invitation.membership?.role ?? '',
      clears: invitation.clearsFactors ? 1 : 0,
      invited_by: invitation.invitedBy,
      created_at: invitation.createdAt,
      expires_at: invitation.expiresAt,
    })
    .returningAll()
    .executeTakeFirstOrThrow();
  return toInvitation(row);
}

/** Finds an invitation by the hash of the secret in its link, as long as it can be accepted. */
export async function findInvitation(x: Executor, hash: string, now: number): Promise<Invitation | undefined> {
  const row = await x
    .selectFrom('invitation')
    .selectAll()
    .where('hash', '=', hash)
    .where('expires_at', '>', now)
    .executeTakeFirst();
  return row && toInvitation(row);
}

/** Accepts an invitation: of several at once, one gets it. */
export async function takeInvitation(trx: Transaction<Schema>, hash: string, now: number) {
  const row = await trx
    .deleteFrom('invitation')
    .where('hash', '=', hash)
    .where('expires_at', '>', now)
    .returningAll()
    .executeTakeFirst();
  return row && toInvitation(row);
}

/** Invitations to an account that can be accepted, oldest first. */
export async function listInvitations(x: Executor, accountId: number, now: number): Promise<readonly Invitation[]> {
  const rows = await x
    .selectFrom('invitation')
    .selectAll()
    .where('account_id', '=', accountId)
    .where('expires_at', '>', now)
    .orderBy('id')
    .execute();
  return rows.map(toInvitation);
}

/** Withdraws what the links of an address say: one that is newer counts instead. */
export async function withdrawSame(
  trx: Transaction<Schema>,
  { email, membership }: Pick<Invitation, 'email' | 'membership'>,
): Promise<void> {
  await trx
    .deleteFrom('invitation')
    .where('email', '=', email)
    .where('account_id', membership === undefined ? 'is' : '=', membership?.accountId ?? null)
    .execute();
}

/** Returns false if the account has no such invitation. */
export async function withdrawInvitation(x: Executor, accountId: number, id: number): Promise<boolean> {
  const row = await x
    .deleteFrom('invitation')
    .where('account_id', '=', accountId)
    .where('id', '=', id)
    .returning('id')
    .executeTakeFirst();
  return row !== undefined;
}

export async function pruneInvitations(x: Executor, now: number): Promise<void> {
  await x.deleteFrom('invitation').where('expires_at', '<=', now).execute();
}

function toInvitation(row: InvitationRow): Invitation {
  return {
    id: row.id,
    email: row.email,
    // `as`: this file is the only one that writes roles of invitations.
    ...(row.account_id !== null && { membership: { accountId: row.account_id, role: row.role as Role } }),
    ...(row.person_id !== null && { personId: row.person_id }),
    clearsFactors: row.clears === 1,
    invitedBy: row.invited_by,
    createdAt: row.created_at,
    expiresAt: row.expires_at,
  };
}
