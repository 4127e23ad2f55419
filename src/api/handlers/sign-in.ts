/** The ways to sign in, and to prove once more who it is. docs/decisions/0662, 0664 */
import type { AuthenticationResponseJSON } from '@simplewebauthn/server';
import type { Transaction } from 'kysely';
import { ServiceError } from '#contract/errors/service-error.ts';
import type { Schema } from '#db/schema/schema.ts';
import { addAuditEvents } from '#db/tables/audit.ts';
import { takeRecoveryCode } from '#db/tables/people/factors.ts';
import { listMembershipsOf } from '#db/tables/people/members.ts';
import { findPasskey, saveUse, takeChallenge } from '#db/tables/people/passkeys.ts';
import {
  changeSecrets,
  findPerson,
  findPersonByEmail,
  lockPerson,
  readSecrets,
  takeTotpStep,
} from '#db/tables/people/persons.ts';
import { forgetTries } from '#db/tables/people/tries.ts';
import { clientNetwork } from '#lib/cidr.ts';
import type { AuditActor } from '#model/audit.ts';
import { hasSecondFactor, normalEmail, type Person } from '#model/person.ts';
import type { SignInMethod } from '#model/session.ts';
import { type BegunSession, beginSession } from '../auth/begin-session.ts';
import { checkPasskeyUse, type PasskeyContext } from '../auth/passkeys.ts';
import { hashRecoveryCode } from '../auth/recovery-codes.ts';
import { takeTry, triesKey } from '../auth/sign-in-tries.ts';
import { totpStepOf } from '../auth/totp.ts';
import type { Call } from './handler.ts';

/** A session that has begun. */
export interface SignedIn extends BegunSession {
  /** Wrong tries since the last right one. */
  readonly failedBefore: number;
}

/** The secret of this machine is no token: it would outlive the command that it is for. */
export async function beginWithToken(call: Call, accessToken: string): Promise<SignedIn> {
  const { caller, now } = call;
  const { token, isDisabled } = await call.authenticate(accessToken, caller, now);
  if (token === undefined) throw new ServiceError('tokenUnknown');
  if (isDisabled) throw new ServiceError('accountDisabled');
  if (token.isElsewhere) throw new ServiceError('addressNotAllowed', { address: caller.address });
  const { id: tokenId, accountId, label: name } = token;
  return await call.db.transaction(async (trx) => {
    const signIn = { tokenId, accountId, method: 'token', isPending: false, isKept: false, strongAt: now } as const;
    const begun = await beginSession(trx, signIn, call);
    await tell(trx, call, { kind: 'token', name, accountId, tokenId, sessionId: begun.session.id }, 'token');
    return { ...begun, failedBefore: 0 };
  });
}

/** Whether somebody has the address is not told: the same is looked up, computed and written. */
export async function beginWithPassword(call: Call, email: string, password: string): Promise<SignedIn> {
  const { db, now, caller, keyring, passwords } = call;
  const key = triesKey('password', normalEmail(email), caller);
  await db.transaction((trx) => takeTry(trx, key, now));
  const person = await findPersonByEmail(db.query, email);
  const secrets = await readSecrets(db.query, keyring, person?.id ?? 0);
  const network = clientNetwork(caller.address);
  const { isRight, isOutdated } = await passwords.check(password, secrets.password, network);
  if (person === undefined || person.isDisabled || !isRight) throw await failed(call, person, 'password');
  const renewed = isOutdated ? await passwords.hash(password, network) : undefined;
  return await db.transaction(async (trx) => {
    const failedBefore = (await forgetTries(trx, key)) - 1;
    if (renewed !== undefined) {
      await lockPerson(trx, person.id);
      await changeSecrets(trx, keyring, person.id, { password: renewed }, {});
    }
    return { ...(await signIn(trx, call, person, 'password')), failedBefore };
  });
}

/** A passkey is not held up by wrong tries: nobody can guess one. */
export async function beginWithPasskey(call: Call, answer: PasskeyAnswer, isKept: boolean): Promise<SignedIn> {
  const { person, use } = await checkPasskey(call, answer);
  if (person === undefined || use === undefined) throw await failed(call, person, 'passkey');
  return await call.db.transaction(async (trx) => {
    if (!(await use(trx))) throw new ServiceError('signInFailed');
    const failedBefore = await forgetTries(trx, triesKey('password', person.email, call.caller));
    return { ...(await signIn(trx, call, person, 'passkey', isKept)), failedBefore };
  });
}

/** Begins the session of a person in the first of the accounts. */
export async function beginOf(
  trx: Transaction<Schema>,
  call: Call,
  person: Person,
  method: SignInMethod,
  isKept = false,
): Promise<BegunSession> {
  const { now } = call;
  const [first] = await listMembershipsOf(trx, person.id);
  const accountId = first?.accountId;
  const isPending = method === 'password' && hasSecondFactor(person);
  const proof = isPending ? {} : { strongAt: now };
  const of = accountId === undefined ? {} : { accountId };
  return await beginSession(trx, { personId: person.id, ...of, method, isPending, isKept, ...proof }, call);
}

/** The same, with an event once the sign-in is complete. */
export async function signIn(
  trx: Transaction<Schema>,
  call: Call,
  person: Person,
  method: SignInMethod,
  isKept = false,
): Promise<BegunSession> {
  const begun = await beginOf(trx, call, person, method, isKept);
  const { id: sessionId, accountId, isPending } = begun.session;
  if (!isPending) await tell(trx, call, { ...actorOf(person), accountId, sessionId }, method);
  return begun;
}

/** The result of `navigator.credentials.get()`. */
export type PasskeyAnswer = Pick<AuthenticationResponseJSON, 'id'>;

export function passkeyContext({ keyring, consoleOrigin, now }: Call): PasskeyContext {
  return { ring: keyring, origin: consoleOrigin(), now };
}

/** `use`, in a transaction, counts the challenge as answered: it returns false if it was before. Absent: it proves nothing. */
async function checkPasskey(call: Call, answer: PasskeyAnswer) {
  const { db, now } = call;
  const passkey = await findPasskey(db.query, answer.id);
  const person = passkey && (await findPerson(db.query, passkey.personId));
  if (passkey === undefined || person === undefined) return {};
  // `as`: the library checks what else an answer has.
  const checked = await checkPasskeyUse(passkeyContext(call), answer as AuthenticationResponseJSON, passkey);
  if (checked === undefined || person.isDisabled) return { person };
  const { counter, challenge } = checked;
  const use = async (trx: Transaction<Schema>) => {
    if (!(await takeChallenge(trx, challenge.hash, challenge.expiresAt))) return false;
    await saveUse(trx, passkey.id, { counter, now });
    return true;
  };
  return { person, use };
}

/** What somebody who is signed in, or about to be, proves. */
export interface Proof {
  readonly code?: string | undefined;
  readonly recoveryCode?: string | undefined;
  readonly passkey?: PasskeyAnswer | undefined;
  readonly password?: string | undefined;
}

/** Returns what counts the proof, in a transaction: false if it has been used. `undefined`: it proves nothing. */
export async function checkProof(call: Call, person: Person, proof: Proof) {
  const { db, keyring, now, caller, passwords } = call;
  const { code, recoveryCode, passkey, password } = proof;
  if (passkey !== undefined) {
    const checked = await checkPasskey(call, passkey);
    return checked.person?.id === person.id ? checked.use : undefined;
  }
  const secrets = await readSecrets(db.query, keyring, person.id);
  if (code !== undefined) {
    const key = person.totpAt === undefined ? undefined : secrets.totp;
    const step = key === undefined ? undefined : totpStepOf(Buffer.from(key, 'base64url'), code, now);
    return step === undefined ? undefined : (trx: Transaction<Schema>) => takeTotpStep(trx, person.id, step);
  }
  if (recoveryCode !== undefined)
    return (trx: Transaction<Schema>) => takeRecoveryCode(trx, person.id, hashRecoveryCode(recoveryCode));
  // Where there is a second factor, the password alone proves no more than the cookie did.
  if (password === undefined || hasSecondFactor(person)) return undefined;
  const { isRight } = await passwords.check(password, secrets.password, clientNetwork(caller.address));
  return isRight ? async () => true : undefined;
}

/** Leaves an event, and returns the error. It is the same whatever was wrong. */
export async function failed(call: Call, person: Person | undefined, method: SignInMethod): Promise<ServiceError> {
  const { db, now: at, requestId } = call;
  await db.transaction(async (trx) => {
    const [first] = person === undefined ? [] : await listMembershipsOf(trx, person.id);
    const actor = { ...actorOf(person), accountId: first?.accountId, address: call.caller.address };
    const target = {
      kind: 'person',
      id: person === undefined ? '' : String(person.id),
      name: person?.email ?? '',
    } as const;
    const change = { accountId: first?.accountId, target, before: {}, after: { method, outcome: 'failed' } };
    await addAuditEvents(trx, { at, actor, operation: 'session.begin', requestId }, [change]);
  });
  return new ServiceError('signInFailed');
}

function actorOf(person: Person | undefined) {
  return { kind: 'person', name: person?.name || (person?.email ?? ''), personId: person?.id } as const;
}

async function tell(
  trx: Transaction<Schema>,
  { now: at, requestId, caller }: Call,
  actor: Omit<AuditActor, 'address'>,
  method: SignInMethod,
): Promise<void> {
  const target = { kind: 'session', id: String(actor.sessionId ?? ''), name: '' } as const;
  const occasion = { at, actor: { ...actor, address: caller.address }, operation: 'session.begin', requestId };
  await addAuditEvents(trx, occasion, [{ accountId: actor.accountId, target, before: {}, after: { method } }]);
}
