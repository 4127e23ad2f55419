/** Signing in and out, the account in view, and the sessions of a person. docs/decisions/0662 */
import type { Transaction } from 'kysely';
import { ServiceError } from '#contract/errors/service-error.ts';
import type { RouteName } from '#contract/routes.ts';
import type { Executor, Schema } from '#db/schema/schema.ts';
import { findAccount, findAccounts } from '#db/tables/accounts.ts';
import { noteChanges, unchanged } from '#db/tables/audit.ts';
import { listMembershipsOf } from '#db/tables/people/members.ts';
import { findPerson, hasPersons } from '#db/tables/people/persons.ts';
import {
  endSession,
  endSessions,
  listSessions,
  setAccountInView,
  setLook,
  setStrong,
} from '#db/tables/people/sessions.ts';
import { forgetTries } from '#db/tables/people/tries.ts';
import type { Account } from '#model/account.ts';
import type { Role } from '#model/person.ts';
import { currentLook, LOOK_MS, type Session } from '#model/session.ts';
import { type BegunSession, beginSession } from '../auth/begin-session.ts';
import { passkeyRequest } from '../auth/passkeys.ts';
import { takeTry, triesKey } from '../auth/sign-in-tries.ts';
import { findAccountOrRefuse } from './find-account.ts';
import type { Call, Handler } from './handler.ts';
import { findSelf } from './own-person.ts';
import { beginProvider, beginWithProvider } from './provider-sign-in.ts';
import {
  beginWithPasskey,
  beginWithPassword,
  beginWithToken,
  checkProof,
  type Proof,
  passkeyContext,
} from './sign-in.ts';

export const SESSION_HANDLERS = {
  'session.begin': async (call, { accessToken, passkey, keep = false, ...typed }) => {
    const { email = '', password = '', providerQuery, providerFlow = '' } = typed;
    if (keep && passkey === undefined) throw new ServiceError('keepUnused');
    if (accessToken !== undefined) return await beginWithToken(call, accessToken);
    if (passkey !== undefined) return await beginWithPasskey(call, passkey, keep);
    if (providerQuery !== undefined) return await beginWithProvider(call, { providerQuery, providerFlow });
    return await beginWithPassword(call, email, password);
  },

  'session.second': proveAgain,

  'session.passkeyChallenge': (call) => passkeyRequest(passkeyContext(call)),

  'session.methods': async ({ db, consoleOrigin, provider }) => ({
    consoleUrl: consoleOrigin(),
    hasPeople: await hasPersons(db.query),
    provider: provider?.host ?? '',
  }),

  'session.beginProvider': beginProvider,

  'session.get': async (call) => {
    const { by, db, now, timeZone, obtainsCertificates, hasSms, review, livePorts } = call;
    const session = sessionOf(call);
    const look = currentLook(session, now);
    return {
      session,
      person: by.person && (await findPerson(db.query, by.person.id)),
      accounts: await accountsOf(db.query, call),
      looked: look && (await findAccount(db.query, look.accountId)),
      by,
      now,
      timeZone,
      features: {
        acme: obtainsCertificates,
        sms: hasSms,
        review: review === 'manual',
        live: (livePorts.rtmp ?? livePorts.rtmps) !== undefined,
      },
    };
  },

  'session.use': async (call, { accountId }) => {
    const { id, accountId: before } = sessionOf(call);
    await call.db.transaction(async (trx) => {
      const accounts = await accountsOf(trx, call);
      if (!accounts.some(({ account }) => account.id === accountId))
        throw new ServiceError('accountNotFound', { accountId });
      await setAccountInView(trx, id, accountId);
      noteSession(trx, id, accountId, { before: { account_id: before }, after: { account_id: accountId } });
    });
  },

  'session.look': async (call, { accountId, reason }) => {
    const { id } = sessionOf(call);
    const { kind } = await findAccountOrRefuse(call.db, accountId);
    if (kind !== 'customer') throw new ServiceError('accountNotCustomer', { accountId });
    const until = call.now + LOOK_MS;
    await call.db.transaction(async (trx) => {
      await setLook(trx, id, { accountId, until, reason });
      noteSession(trx, id, accountId, { before: {}, after: { reason, until } }); // the customer sees it
    });
    return until;
  },

  'session.list': async (call) => {
    const current = sessionOf(call);
    return { current, sessions: await listSessions(call.db.query, current, call.now) };
  },

  'session.revoke': async (call, { sessionId, others = false }) => {
    const current = sessionOf(call);
    await call.db.transaction(async (trx) => {
      if (others) await endSessions(trx, current, current.id);
      if (sessionId !== undefined) await endOwn(trx, call, current, sessionId);
      const after = others ? { others: true } : {};
      noteSession(trx, sessionId ?? current.id, call.by.accountId, { before: {}, after });
    });
  },

  'session.end': async (call) => {
    const { id } = sessionOf(call);
    await call.db.transaction(async (trx) => {
      await endSession(trx, id);
      noteSession(trx, id, call.by.accountId, { before: {}, after: {} });
    });
  },
} satisfies { readonly [N in RouteName as N extends `session.${string}` ? N : never]: Handler<N> };

/** Operations of the scope `person` have a session; others may be called with a token. */
function sessionOf({ by: { session } }: Call): Session {
  if (session === undefined) throw new ServiceError('notSignedIn');
  return session;
}

/** An account that the session may act for, and the role of the person there. */
export interface AccountInReach {
  readonly account: Account;
  /** Absent: the session acts for a token. */
  readonly role?: Role;
}

/** The accounts that the session may act for, one of them at a time. */
async function accountsOf(x: Executor, { by: { token, person } }: Call): Promise<readonly AccountInReach[]> {
  if (person === undefined) {
    const account = token && (await findAccount(x, token.accountId));
    return account === undefined ? [] : [{ account }];
  }
  const memberships = await listMembershipsOf(x, person.id);
  const accounts = await findAccounts(
    x,
    memberships.map(({ accountId }) => accountId),
  );
  return memberships.flatMap(({ accountId, role }) => {
    const account = accounts.get(accountId);
    return account === undefined ? [] : [{ account, role }];
  });
}

/** Completes a sign-in with a new secret; or notes the proof, and the cookie stays: other pages may be calling with it. */
async function proveAgain(call: Call, proof: Proof): Promise<BegunSession | undefined> {
  const { db, now, caller } = call;
  const session = sessionOf(call);
  const person = await findSelf(db.query, call);
  const key = triesKey('second', person.id, caller);
  await db.transaction(async (trx) => unchanged(trx, await takeTry(trx, key, now)));
  const use = await checkProof(call, person, proof);
  const after = { outcome: 'failed' };
  const done = await db.transaction(async (trx) => {
    if (use === undefined || !(await use(trx))) {
      noteSession(trx, session.id, call.by.accountId ?? session.accountId, { before: {}, after });
      return 'failed';
    }
    await forgetTries(trx, key);
    noteSession(trx, session.id, call.by.accountId ?? session.accountId, { before: {}, after: { outcome: 'done' } });
    const { personId, accountId, isPending, isKept } = session;
    const method = proof.password === undefined && session.method !== 'passkey' ? 'second' : session.method;
    if (!isPending) return await setStrong(trx, session.id, { method, now });
    const of = { ...(personId !== undefined && { personId }), ...(accountId !== undefined && { accountId }) };
    return await beginSession(trx, { ...of, method, isPending: false, isKept, strongAt: now }, call);
  });
  if (done === 'failed') throw new ServiceError('signInFailed');
  return done ?? undefined;
}

async function endOwn(trx: Transaction<Schema>, call: Call, current: Session, sessionId: number): Promise<void> {
  const own = await listSessions(trx, current, call.now);
  if (!own.some(({ id }) => id === sessionId)) throw new ServiceError('sessionNotFound', { sessionId });
  await endSession(trx, sessionId);
}

function noteSession(
  trx: Transaction<Schema>,
  id: number,
  accountId: number | undefined,
  { before, after }: { readonly before: Record<string, unknown>; readonly after: Record<string, unknown> },
): void {
  noteChanges(trx, [{ accountId, target: { kind: 'session', id: String(id), name: '' }, before, after }]);
}
