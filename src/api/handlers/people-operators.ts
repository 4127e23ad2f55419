/** People of all accounts, for operators and for the command line of this machine. docs/decisions/0665 */
import type { Transaction } from 'kysely';
import { ServiceError } from '#contract/errors/service-error.ts';
import type { RouteName } from '#contract/routes.ts';
import type { Executor, Schema } from '#db/schema/schema.ts';
import { noteChanges } from '#db/tables/audit.ts';
import { listMembershipsOf, lockMembers, saveMembership } from '#db/tables/people/members.ts';
import {
  createPerson,
  findPerson,
  findPersonByEmail,
  findPersons,
  lockEmail,
  setPersonDisabled,
} from '#db/tables/people/persons.ts';
import { endSessions, lastSeen } from '#db/tables/people/sessions.ts';
import type { AuditMembers } from '#model/audit.ts';
import { type AccountMembership, isRoleOf, normalEmail, type Person, ROLES_OF_KIND } from '#model/person.ts';
import { findAccountOrRefuse } from './find-account.ts';
import type { Handler } from './handler.ts';
import { makeLink } from './links.ts';

type PeopleRoute = `operator.${'createPerson' | 'resetPerson' | 'listPersons' | 'setPersonStatus'}`;

interface PersonView {
  readonly person: Person;
  readonly memberships: readonly AccountMembership[];
  readonly seenAt: number | undefined;
}

export const PEOPLE_OPERATOR_HANDLERS = {
  'operator.createPerson': async (call, { email, name = '', accountId, role }) => {
    const { kind } = await findAccountOrRefuse(call.db, accountId);
    if (!isRoleOf(kind, role)) throw new ServiceError('roleUnknown', { roles: ROLES_OF_KIND[kind].join(', ') });
    return await call.db.transaction(async (trx) => {
      await lockMembers(trx, accountId);
      await lockEmail(trx, email);
      const known = await findPersonByEmail(trx, email);
      const person = known ?? (await createPerson(trx, { email, name, now: call.now }));
      const { id: personId } = person;
      await saveMembership(trx, { personId, accountId, role, invitedBy: call.actor, createdAt: call.now });
      note(trx, person, accountId, {}, { role });
      if (known !== undefined) return { personId };
      const made = await makeLink(trx, call, { email: normalEmail(email), personId }, true);
      return { personId, made };
    });
  },

  'operator.resetPerson': async (call, { personId, clearsFactors }) =>
    await call.db.transaction(async (trx) => {
      const person = await findOrRefuse(trx, personId);
      note(trx, person, undefined, {}, { password_link: { changed: true }, clears: clearsFactors });
      return await makeLink(trx, call, { email: person.email, personId, clearsFactors });
    }),

  'operator.listPersons': async ({ db }, filter) => {
    const { total, persons } = await findPersons(db.query, filter);
    const seen = await lastSeen(
      db.query,
      persons.map(({ id }) => id),
    );
    const views: PersonView[] = [];
    for (const person of persons)
      views.push({ person, memberships: await listMembershipsOf(db.query, person.id), seenAt: seen.get(person.id) });
    return { total, views };
  },

  'operator.setPersonStatus': async ({ db, now, by }, { personId, isEnabled }) => {
    if (by.person?.id === personId && !isEnabled) throw new ServiceError('personSelf', { personId });
    await db.transaction(async (trx) => {
      const person = await findOrRefuse(trx, personId);
      await setPersonDisabled(trx, personId, isEnabled ? undefined : now);
      if (!isEnabled) await endSessions(trx, { personId });
      note(trx, person, undefined, { enabled: !person.isDisabled }, { enabled: isEnabled });
    });
  },
} satisfies { readonly [N in PeopleRoute]: Handler<Extract<RouteName, N>> };

async function findOrRefuse(x: Executor, personId: number): Promise<Person> {
  const person = await findPerson(x, personId);
  if (person === undefined) throw new ServiceError('personNotFound', { personId });
  return person;
}

function note(
  trx: Transaction<Schema>,
  { id, email }: Person,
  accountId: number | undefined,
  before: AuditMembers,
  after: AuditMembers,
): void {
  noteChanges(trx, [{ accountId, target: { kind: 'person', id: String(id), name: email }, before, after }]);
}
