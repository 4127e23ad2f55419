/** The person who is signed in, as the handlers of several operations need them. */
import type { Transaction } from 'kysely';
import { ServiceError } from '#contract/errors/service-error.ts';
import type { Executor, Schema } from '#db/schema/schema.ts';
import { noteChanges } from '#db/tables/audit.ts';
import { findPerson } from '#db/tables/people/persons.ts';
import type { AuditMembers } from '#model/audit.ts';
import type { Person } from '#model/person.ts';
import type { Call } from './handler.ts';

/** Throws `ServiceError` if the session acts for a token. */
export async function findSelf(x: Executor, { by: { person } }: Call): Promise<Person> {
  const self = person && (await findPerson(x, person.id));
  if (self === undefined) throw new ServiceError('personMissing');
  return self;
}

/** Says what a transaction changes of a person, in the account in view. */
export function notePerson(
  trx: Transaction<Schema>,
  { by }: Call,
  { id, email }: Pick<Person, 'id' | 'email'>,
  before: AuditMembers,
  after: AuditMembers,
): void {
  const target = { kind: 'person', id: String(id), name: email } as const;
  noteChanges(trx, [{ accountId: by.accountId, target, before, after }]);
}
