/** Signing in and out, and the account in view. docs/decisions/0662 */
import { ServiceError } from '#contract/errors/service-error.ts';
import type { RouteName } from '#contract/routes.ts';
import type { Executor } from '#db/schema/schema.ts';
import { findAccount } from '#db/tables/accounts.ts';
import { addAuditEvents, noteChanges } from '#db/tables/audit.ts';
import { endSession, setAccountInView } from '#db/tables/people/sessions.ts';
import type { Account } from '#model/account.ts';
import type { Session } from '#model/session.ts';
import { type BegunSession, beginSession } from '../auth/begin-session.ts';
import type { Call, Handler } from './handler.ts';

export const SESSION_HANDLERS = {
  'session.begin': (call, { accessToken }) => beginWithToken(call, accessToken),

  'session.get': async (call) => {
    const { by, now, timeZone, obtainsCertificates, hasSms, review, livePorts } = call;
    return {
      session: sessionOf(call),
      accounts: await accountsOf(call.db.query, call),
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
      if (!accounts.some((account) => account.id === accountId))
        throw new ServiceError('accountNotFound', { accountId });
      await setAccountInView(trx, id, accountId);
      const target = { kind: 'session', id: String(id), name: '' } as const;
      noteChanges(trx, [{ accountId, target, before: { account_id: before }, after: { account_id: accountId } }]);
    });
  },

  'session.end': async (call) => {
    const { id } = sessionOf(call);
    await call.db.transaction(async (trx) => {
      await endSession(trx, id);
      const target = { kind: 'session', id: String(id), name: '' } as const;
      noteChanges(trx, [{ accountId: call.by.accountId, target, before: {}, after: {} }]);
    });
  },
} satisfies { readonly [N in RouteName as N extends `session.${string}` ? N : never]: Handler<N> };

/** Operations of the scope `person` have a session. */
function sessionOf({ by: { session } }: Call): Session {
  if (session === undefined) throw new ServiceError('notSignedIn');
  return session;
}

/** The accounts that the session may act for, one of them at a time. */
async function accountsOf(x: Executor, { by: { token } }: Call): Promise<readonly Account[]> {
  const account = token && (await findAccount(x, token.accountId));
  return account === undefined ? [] : [account];
}

/** The secret of this machine is no token: it would outlive the command that it is for. */
async function beginWithToken(call: Call, accessToken: string): Promise<BegunSession> {
  const { caller, now, requestId } = call;
  const { token, isDisabled } = await call.authenticate(accessToken, caller, now);
  if (token === undefined) throw new ServiceError('tokenUnknown');
  if (isDisabled) throw new ServiceError('accountDisabled');
  if (token.isElsewhere) throw new ServiceError('addressNotAllowed', { address: caller.address });
  const { id: tokenId, accountId, label } = token;
  return await call.db.transaction(async (trx) => {
    const signIn = { tokenId, accountId, method: 'token', isPending: false, isKept: false, strongAt: now } as const;
    const begun = await beginSession(trx, signIn, call);
    const sessionId = begun.session.id;
    const actor = { kind: 'token', name: label, accountId, tokenId, sessionId, address: caller.address } as const;
    const target = { kind: 'session', id: String(sessionId), name: '' } as const;
    const change = { accountId, target, before: {}, after: { method: 'token' } };
    await addAuditEvents(trx, { at: now, actor, operation: 'session.begin', requestId }, [change]);
    return begun;
  });
}
