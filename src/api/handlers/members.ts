/** Members of an account, and links to become one. Nobody gives a role that may do more than they may. docs/decisions/0665 */
import type { Transaction } from 'kysely';
import { ServiceError } from '#contract/errors/service-error.ts';
import type { RouteName } from '#contract/routes.ts';
import type { Executor, Schema } from '#db/schema/schema.ts';
import { findAccount, setSecondFactor } from '#db/tables/accounts.ts';
import { noteChanges } from '#db/tables/audit.ts';
import { listInvitations, withdrawInvitation } from '#db/tables/people/invitations.ts';
import {
  countMembers,
  findMembership,
  listMembershipsOf,
  listMembersOf,
  lockMembers,
  removeMembership,
  saveMembership,
} from '#db/tables/people/members.ts';
import { findPerson, findPersonByEmail, listPersons } from '#db/tables/people/persons.ts';
import { lastSeen } from '#db/tables/people/sessions.ts';
import { type Account, SCOPES_OF_KIND } from '#model/account.ts';
import {
  type AccountMembership,
  accessOfRole,
  asksForSecondFactor,
  isRoleOf,
  normalEmail,
  type Person,
  ROLES_OF_KIND,
  type Role,
  TOP_ROLE,
} from '#model/person.ts';
import { refusalOfWider } from '../auth/token-rights.ts';
import type { Call, Handler } from './handler.ts';
import { makeLink } from './links.ts';
import { notePerson } from './own-person.ts';

/** Members and invitations of an account. */
const MAX_MEMBERS = 500;

export interface MemberView {
  readonly person: Person;
  readonly membership: AccountMembership;
  readonly seenAt: number | undefined;
}

export const MEMBER_HANDLERS = {
  'member.list': async (call) => {
    const account = await accountOf(call.db.query, call);
    const memberships = await listMembersOf(call.db.query, account.id);
    const ids = memberships.map(({ personId }) => personId);
    const persons = new Map((await listPersons(call.db.query, ids)).map((person) => [person.id, person]));
    const seen = await lastSeen(call.db.query, ids);
    const members = memberships.flatMap((membership): MemberView[] => {
      const person = persons.get(membership.personId);
      return person === undefined ? [] : [{ person, membership, seenAt: seen.get(person.id) }];
    });
    const invitations = await listInvitations(call.db.query, account.id, call.now);
    return { members, invitations, needsSecondFactor: asksForSecondFactor(account) };
  },

  'member.invite': (call, { email, role }) =>
    change(call, async (trx, account) => {
      refuseRole(call, account, role);
      const known = await findPersonByEmail(trx, email);
      const present = known && (await findMembership(trx, { personId: known.id, accountId: account.id }));
      if (present !== undefined) throw new ServiceError('memberPresent', { email });
      await refuseTooMany(trx, account.id, call.now);
      const made = await makeLink(trx, call, {
        email: normalEmail(email),
        membership: { accountId: account.id, role },
      });
      const target = { kind: 'person', id: '', name: made.invitation.email } as const;
      noteChanges(trx, [{ accountId: account.id, target, before: {}, after: { invited: role } }]);
      return made;
    }),

  'member.setRole': async (call, { personId, role }) => {
    await change(call, async (trx, account) => {
      const { person, membership } = await findMember(trx, account, personId);
      refuseRole(call, account, role);
      refuseRole(call, account, membership.role);
      if (role !== TOP_ROLE[account.kind]) await refuseLast(trx, account, membership);
      await saveMembership(trx, { ...membership, role, invitedBy: call.actor });
      notePerson(trx, call, person, { role: membership.role }, { role });
    });
  },

  'member.remove': async (call, { personId, invitationId }) => {
    await change(call, async (trx, account) => {
      if (personId !== undefined) await removeMember(trx, call, account, personId);
      if (invitationId !== undefined && !(await withdrawInvitation(trx, account.id, invitationId)))
        throw new ServiceError('invitationNotFound');
      if (personId === undefined) {
        const target = { kind: 'person', id: '', name: '' } as const;
        noteChanges(trx, [{ accountId: account.id, target, before: { invitation_id: invitationId }, after: {} }]);
      }
    });
  },

  'member.resetPassword': (call, { personId }) =>
    change(call, async (trx, account) => {
      const { person, membership } = await findMember(trx, account, personId);
      refuseRole(call, account, membership.role);
      // Else the owner of one account would get into the others.
      if ((await listMembershipsOf(trx, personId)).length > 1) throw new ServiceError('memberElsewhere', { personId });
      notePerson(trx, call, person, {}, { password_link: { changed: true } });
      return await makeLink(trx, call, { email: person.email, personId });
    }),

  'member.setSecondFactor': async (call, { isRequired }) => {
    await change(call, async (trx, account) => {
      await setSecondFactor(trx, account.id, isRequired);
      const target = { kind: 'account', id: String(account.id), name: account.name } as const;
      const before = { second_factor: asksForSecondFactor(account) };
      noteChanges(trx, [{ accountId: account.id, target, before, after: { second_factor: isRequired } }]);
    });
  },
} satisfies { readonly [N in RouteName as N extends `member.${string}` ? N : never]: Handler<N> };

async function accountOf(x: Executor, { accountId, domainIds }: Call): Promise<Account> {
  const account = await findAccount(x, accountId);
  if (account === undefined) throw new ServiceError('accountMissing');
  if (domainIds !== undefined) throw new ServiceError('domainsLimited');
  return account;
}

/** One change of the members of an account after the other. */
async function change<T>(call: Call, work: (trx: Transaction<Schema>, account: Account) => Promise<T>): Promise<T> {
  return await call.db.transaction(async (trx) => {
    await lockMembers(trx, call.accountId);
    return await work(trx, await accountOf(trx, call));
  });
}

/** Refuses roles that may do more than the caller: tokens make no such tokens either. */
function refuseRole({ by }: Call, { kind }: Account, role: Role): void {
  if (!isRoleOf(kind, role)) throw new ServiceError('roleUnknown', { roles: ROLES_OF_KIND[kind].join(', ') });
  const rights = { scopes: SCOPES_OF_KIND[kind], access: accessOfRole(kind, role) };
  if (refusalOfWider(rights, { scopes: by.scopes, access: by.access }) !== undefined)
    throw new ServiceError('roleWidened');
}

async function findMember(x: Executor, { id: accountId }: Account, personId: number) {
  const membership = await findMembership(x, { personId, accountId });
  const person = membership && (await findPerson(x, personId));
  if (membership === undefined || person === undefined) throw new ServiceError('memberNotFound', { personId });
  return { membership, person };
}

async function removeMember(trx: Transaction<Schema>, call: Call, account: Account, personId: number): Promise<void> {
  const { person, membership } = await findMember(trx, account, personId);
  refuseRole(call, account, membership.role);
  await refuseLast(trx, account, membership);
  await removeMembership(trx, membership);
  notePerson(trx, call, person, { role: membership.role }, {});
}

/** Nobody else could make members of the account. */
async function refuseLast(x: Executor, { id, kind }: Account, { personId, role }: AccountMembership): Promise<void> {
  if (role !== TOP_ROLE[kind] || (await countMembers(x, id, role)) > 1) return;
  throw new ServiceError('memberLast', { personId, role });
}

async function refuseTooMany(x: Executor, accountId: number, now: number): Promise<void> {
  const members = await listMembersOf(x, accountId);
  const invitations = await listInvitations(x, accountId, now);
  if (members.length + invitations.length >= MAX_MEMBERS) throw new ServiceError('memberLimit', { limit: MAX_MEMBERS });
}
