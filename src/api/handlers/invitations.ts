/** Accepting a link: to become a member of an account, or to set a new password. docs/decisions/0665 */
import type { Transaction } from 'kysely';
import { ServiceError } from '#contract/errors/service-error.ts';
import { newPassword } from '#contract/people/person-fields.ts';
import type { RouteName } from '#contract/routes.ts';
import type { Executor, Schema } from '#db/schema/schema.ts';
import { findAccount } from '#db/tables/accounts.ts';
import { addAuditEvents } from '#db/tables/audit.ts';
import { saveRecoveryCodes } from '#db/tables/people/factors.ts';
import { findInvitation, type Invitation, takeInvitation } from '#db/tables/people/invitations.ts';
import { saveMembership } from '#db/tables/people/members.ts';
import { removePasskeys } from '#db/tables/people/passkeys.ts';
import {
  changeSecrets,
  createPerson,
  findPerson,
  findPersonByEmail,
  lockEmail,
  lockPerson,
  saveIdentity,
} from '#db/tables/people/persons.ts';
import { endSessions } from '#db/tables/people/sessions.ts';
import { hashToken } from '#lib/token.ts';
import type { Person } from '#model/person.ts';
import type { BegunSession } from '../auth/begin-session.ts';
import { callSite, sessionSecretOf } from '../auth/browser.ts';
import { type CheckedPasskey, type PasskeyOwner, passkeyCreation } from '../auth/passkeys.ts';
import type { Call, Handler } from './handler.ts';
import { checkedPasskey, keepPasskey } from './new-passkey.ts';
import { hashNewPassword } from './new-password.ts';
import { beginOf, passkeyContext } from './sign-in.ts';

/** Result of accepting. `begun` absent: the person signs in, or is signed in already. */
export interface AcceptedLink {
  readonly begun?: BegunSession;
}

export const INVITATION_HANDLERS = {
  'invitation.get': async ({ db, now }, { secret }) => {
    const invitation = orRefuse(await findInvitation(db.query, hashToken(secret), now));
    const { membership } = invitation;
    return {
      invitation,
      account: membership && (await findAccount(db.query, membership.accountId)),
      isKnown: (await findInvited(db.query, invitation)) !== undefined,
    };
  },

  'invitation.beginPasskey': async (call, { secret }) => {
    const invitation = orRefuse(await findInvitation(call.db.query, hashToken(secret), call.now));
    return await passkeyCreation(passkeyContext(call), ownerOf(invitation), []);
  },

  'invitation.accept': async (call, { secret, name = '', password, passkey }): Promise<AcceptedLink> => {
    const hash = hashToken(secret);
    const invitation = orRefuse(await findInvitation(call.db.query, hash, call.now));
    const known = await findInvited(call.db.query, invitation);
    if (invitation.personId === undefined && known !== undefined) return await join(call, hash, known);
    if (known === undefined && passkey !== undefined) {
      const made = await checkedPasskey(call, passkey, ownerOf(invitation));
      return await joinAsNew(call, hash, { name, made });
    }
    if (password === undefined)
      throw new ServiceError('fieldMissing', { field: 'password', expected: newPassword.expects });
    const hashed = await hashNewPassword(call, password, [invitation.email, known?.name ?? name]);
    return known === undefined ? await joinAsNew(call, hash, { name, hashed }) : await reset(call, hash, known, hashed);
  },
} satisfies { readonly [N in RouteName as N extends `invitation.${string}` ? N : never]: Handler<N> };

function ownerOf({ id, email }: Invitation): PasskeyOwner {
  return { purpose: `join ${id}`, email, name: '' };
}

function orRefuse(invitation: Invitation | undefined): Invitation {
  if (invitation === undefined) throw new ServiceError('invitationNotFound');
  return invitation;
}

async function findInvited(x: Executor, { personId, email }: Invitation): Promise<Person | undefined> {
  return personId === undefined ? await findPersonByEmail(x, email) : await findPerson(x, personId);
}

/** The link alone does not prove the person, who therefore signs in first. */
async function join(call: Call, hash: string, person: Person): Promise<AcceptedLink> {
  if ((await signedInPerson(call)) !== person.id) throw new ServiceError('signInToAccept', { email: person.email });
  await call.db.transaction(async (trx) => {
    await becomeMember(trx, call, orRefuse(await takeInvitation(trx, hash, call.now)), person);
  });
  return {};
}

/** What the new person signs in with: the hash of a password, or a passkey. */
type NewProof = { readonly hashed: string } | { readonly made: CheckedPasskey };

async function joinAsNew(
  call: Call,
  hash: string,
  { name, ...proof }: NewProof & { readonly name: string },
): Promise<AcceptedLink> {
  const { now, keyring } = call;
  return await call.db.transaction(async (trx) => {
    const invitation = orRefuse(await takeInvitation(trx, hash, now));
    const { email } = invitation;
    await lockEmail(trx, email);
    if ((await findPersonByEmail(trx, email)) !== undefined) throw new ServiceError('signInToAccept', { email });
    const person = await createPerson(trx, { email, name, now });
    if ('made' in proof) await keepPasskey(trx, proof.made, { personId: person.id, label: '', createdAt: now });
    else await changeSecrets(trx, keyring, person.id, { password: proof.hashed }, { password_at: now });
    await becomeMember(trx, call, invitation, person);
    return { begun: await beginOf(trx, call, person, 'made' in proof ? 'passkey' : 'password') };
  });
}

/** Ends all sessions too: somebody with the former password may have some. */
async function reset(call: Call, hash: string, { id, email }: Person, hashed: string): Promise<AcceptedLink> {
  const { now, keyring } = call;
  await call.db.transaction(async (trx) => {
    const { clearsFactors } = orRefuse(await takeInvitation(trx, hash, now));
    await lockPerson(trx, id);
    const factors = clearsFactors ? { totp: undefined } : {};
    const times = clearsFactors ? { totp_at: null } : {};
    await changeSecrets(trx, keyring, id, { password: hashed, ...factors }, { password_at: now, ...times });
    if (clearsFactors) {
      await removePasskeys(trx, id);
      await saveIdentity(trx, id, undefined);
      await saveRecoveryCodes(trx, id, []);
    }
    await endSessions(trx, { personId: id });
    await tell(trx, call, { id, email, name: '' }, undefined, { password: { changed: true }, clears: clearsFactors });
  });
  return {};
}

async function becomeMember(trx: Transaction<Schema>, call: Call, invitation: Invitation, person: Person) {
  const { membership, invitedBy } = invitation;
  if (membership === undefined) throw new ServiceError('invitationNotFound');
  const { accountId, role } = membership;
  await saveMembership(trx, { personId: person.id, accountId, role, invitedBy, createdAt: call.now });
  await tell(trx, call, person, accountId, { role });
}

/** The person of the session in the cookie; `undefined` without one. */
async function signedInPerson({ caller, now, authenticateSession, consoleOrigin }: Call): Promise<number | undefined> {
  const { browser } = caller;
  const secret = browser && sessionSecretOf(browser);
  if (browser === undefined || secret === undefined || callSite(browser, consoleOrigin()) !== 'own') return undefined;
  const { person, session } = await authenticateSession(secret, caller, now);
  return session?.isPending === true ? undefined : person?.id;
}

async function tell(
  trx: Transaction<Schema>,
  { now: at, requestId, caller: { address } }: Call,
  { id, email, name }: Pick<Person, 'id' | 'email' | 'name'>,
  accountId: number | undefined,
  after: Readonly<Record<string, unknown>>,
): Promise<void> {
  const actor = { kind: 'person', name: name === '' ? email : name, personId: id, accountId, address } as const;
  const target = { kind: 'person', id: String(id), name: email } as const;
  const occasion = { at, actor, operation: 'invitation.accept', requestId };
  await addAuditEvents(trx, occasion, [{ accountId, target, before: {}, after }]);
}
