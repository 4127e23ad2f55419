/** Signing in by an identity provider: the person that it vouches for, and the roles that its groups give. docs/decisions/0666 */
import type { Transaction } from 'kysely';
import { ServiceError } from '#contract/errors/service-error.ts';
import type { Schema } from '#db/schema/schema.ts';
import { findAccounts } from '#db/tables/accounts.ts';
import { findMembership, listMembershipsOf, removeMembership, saveMembership } from '#db/tables/people/members.ts';
import {
  createPerson,
  findPersonByEmail,
  findPersonByIdentity,
  lockEmail,
  saveIdentity,
} from '#db/tables/people/persons.ts';
import { isRoleOf, type Person } from '#model/person.ts';
import type { Provider, Vouched } from '../auth/provider.ts';
import type { Call } from './handler.ts';
import { failed, type SignedIn, signIn } from './sign-in.ts';

/** Page of the console that browsers come back to. */
const CALLBACK = '/console/provider';
/** Author of memberships that groups give. */
const BY_PROVIDER = 'provider';

export interface ProviderReturn {
  readonly providerQuery: string;
  readonly providerFlow: string;
}

export async function beginProvider(call: Call) {
  return confirmed(await providerOf(call).begin(callbackOf(call), call.now));
}

/** Throws `ServiceError` unless the provider vouches for somebody. */
export async function findVouched(call: Call, { providerQuery: query, providerFlow: flow }: ProviderReturn) {
  return confirmed(await providerOf(call).finish({ callback: callbackOf(call), query, flow }, call.now));
}

function callbackOf({ consoleOrigin }: Call): string {
  return consoleOrigin() + CALLBACK;
}

function providerOf({ provider }: Call): Provider {
  if (provider === undefined) throw new ServiceError('providerAbsent');
  return provider;
}

function confirmed<T>(answer: T | undefined): T {
  if (answer === undefined) throw new ServiceError('providerRefused');
  return answer;
}

export async function beginWithProvider(call: Call, answer: ProviderReturn): Promise<SignedIn> {
  const vouched = await findVouched(call, answer);
  const begun = await call.db.transaction(async (trx) => {
    const found = await findOrMake(trx, call, vouched);
    if (found.kind !== 'found' || found.person.isDisabled) return found;
    await giveRoles(trx, call, found.person, vouched);
    return { kind: 'begun', ...(await signIn(trx, call, found.person, 'provider')) } as const;
  });
  switch (begun.kind) {
    case 'begun':
      return { ...begun, failedBefore: 0 };
    case 'notLinked':
      throw new ServiceError('providerNotLinked');
    case 'found':
      throw await failed(call, begun.person, 'provider');
    case 'unknown':
      throw await failed(call, undefined, 'provider');
  }
}

type Found =
  | { readonly kind: 'found'; readonly person: Person }
  /** Somebody with this address signs in otherwise, and has to link the provider first. */
  | { readonly kind: 'notLinked' }
  | { readonly kind: 'unknown' };

/**
 * A person is found by the identity that is linked. A verified address alone links nobody who has another way to sign in:
 * addresses are given anew, and an identity provider may let people choose theirs.
 */
async function findOrMake(trx: Transaction<Schema>, call: Call, vouched: Vouched): Promise<Found> {
  const { identity, email, name, groups } = vouched;
  const linked = await findPersonByIdentity(trx, identity);
  if (linked !== undefined) return { kind: 'found', person: linked };
  if (email === undefined) return { kind: 'unknown' };
  await lockEmail(trx, email);
  const known = await findPersonByEmail(trx, email);
  if (known !== undefined && signsInOtherwise(known)) return { kind: 'notLinked' };
  if (known === undefined && !call.groupRoles.some(({ group }) => groups.includes(group))) return { kind: 'unknown' };
  const person = known ?? (await createPerson(trx, { email, name, now: call.now }));
  await saveIdentity(trx, person.id, { identity, now: call.now });
  return { kind: 'found', person };
}

function signsInOtherwise({ passwordAt, passkeys, identityAt }: Person): boolean {
  return passwordAt !== undefined || passkeys > 0 || identityAt !== undefined;
}

/** What groups no longer give ends; memberships that people have given stay as they are. */
async function giveRoles(trx: Transaction<Schema>, call: Call, { id: personId }: Person, { groups }: Vouched) {
  const given = await rolesOf(trx, call, groups);
  for (const { accountId, invitedBy } of await listMembershipsOf(trx, personId))
    if (invitedBy === BY_PROVIDER && !given.some((role) => role.accountId === accountId))
      await removeMembership(trx, { personId, accountId });
  for (const { accountId, role } of given) {
    const present = await findMembership(trx, { personId, accountId });
    if (present === undefined || present.invitedBy === BY_PROVIDER)
      await saveMembership(trx, { personId, accountId, role, invitedBy: BY_PROVIDER, createdAt: call.now });
  }
}

/** Roles that there are: a setting may name an account that is gone, or a role of the other kind of account. */
async function rolesOf(trx: Transaction<Schema>, { groupRoles }: Call, groups: readonly string[]) {
  const asked = groupRoles.filter(({ group }) => groups.includes(group));
  const accounts = await findAccounts(
    trx,
    asked.map(({ accountId }) => accountId),
  );
  return asked.filter(({ accountId, role }) => {
    const account = accounts.get(accountId);
    return account !== undefined && isRoleOf(account.kind, role);
  });
}
