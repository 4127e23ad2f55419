/** Whose session a cookie is, and what it may do now: all of it is looked up with each call, so what has ended ends it at once. docs/decisions/0662 */
import { ServiceError } from '#contract/errors/service-error.ts';
import type { Db } from '#db/open.ts';
import type { Executor } from '#db/schema/schema.ts';
import { findAccount } from '#db/tables/accounts.ts';
import { findSession } from '#db/tables/people/sessions.ts';
import { findToken } from '#db/tables/tokens.ts';
import { hashToken } from '#lib/token.ts';
import { isSessionAlive, type Session } from '#model/session.ts';
import { type Caller, type Principal, principalOfToken } from './authenticate.ts';

/** Throws `ServiceError` for anything but the secret of a session that is alive. */
export type AuthenticateSession = (secret: string, caller: Caller, now: number) => Promise<Principal>;

export function createAuthenticateSession(db: Pick<Db, 'lookUps'>): AuthenticateSession {
  return (secret, caller, now) =>
    db.lookUps.connection().execute(async (x) => {
      const session = await findSession(x, hashToken(secret));
      if (session === undefined || !isSessionAlive(session, now)) throw new ServiceError('sessionEnded');
      return await principalOf(x, session, caller, now);
    });
}

async function principalOf(x: Executor, session: Session, { address }: Caller, now: number): Promise<Principal> {
  const token = session.tokenId === undefined ? undefined : await findToken(x, session.tokenId);
  const account = token && (await findAccount(x, token.accountId));
  if (token === undefined || account === undefined) throw new ServiceError('sessionEnded');
  return { ...principalOfToken({ token, account }, address, now), session };
}
