/** Begins a session in the transaction of a sign-in, instead of that of the browser's cookie. docs/decisions/0662 */
import type { Transaction } from 'kysely';
import type { Schema } from '#db/schema/schema.ts';
import { addSession, endOldest, endSession, findSession } from '#db/tables/people/sessions.ts';
import { hashToken, mintToken } from '#lib/token.ts';
import { type Session, sessionLimits } from '#model/session.ts';
import type { Caller } from './authenticate.ts';
import { sessionSecretOf } from './browser.ts';

/** Sessions of a person, or of a token, at once: with one more the oldest ends. */
const MAX_SESSIONS = 50;
const MAX_USER_AGENT_CHARS = 300;

/** What a sign-in has found out. */
export type SignIn = Pick<
  Session,
  'personId' | 'tokenId' | 'accountId' | 'method' | 'isPending' | 'isKept' | 'strongAt'
>;

export interface BegunSession {
  readonly session: Session;
  /** Secret of the cookie, which only the browser keeps. */
  readonly secret: string;
}

export async function beginSession(
  trx: Transaction<Schema>,
  signIn: SignIn,
  { caller, now }: { readonly caller: Caller; readonly now: number },
): Promise<BegunSession> {
  const former = caller.browser && sessionSecretOf(caller.browser);
  const replaced = former === undefined ? undefined : await findSession(trx, hashToken(former));
  if (replaced !== undefined) await endSession(trx, replaced.id);
  await endOldest(trx, signIn, MAX_SESSIONS - 1);
  const secret = mintToken();
  const session = await addSession(trx, {
    ...signIn,
    hash: hashToken(secret),
    createdAt: now,
    expiresAt: now + sessionLimits(signIn).absoluteMs,
    address: caller.address,
    userAgent: printable(caller.browser?.userAgent ?? ''),
  });
  return { session, secret };
}

/** Characters that are not visible ASCII become `?`. */
function printable(userAgent: string): string {
  return userAgent.slice(0, MAX_USER_AGENT_CHARS).replace(/[^ -~]/g, '?');
}
