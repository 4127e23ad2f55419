/** Sessions on the wire, and the cookies that answers set. Used by `wire.ts` only. */
import type { DataOf, RequestOf } from '#contract/operations.ts';
import type { RouteName } from '#contract/routes.ts';
import { toModelNames } from '#lib/model-names.ts';
import type { Account } from '#model/account.ts';
import { currentLook, type Session, strongUntil } from '#model/session.ts';
import type { Principal } from '../auth/authenticate.ts';
import type { BegunSession } from '../auth/begin-session.ts';
import { NO_SESSION_COOKIE, sessionCookie } from '../auth/browser.ts';
import { writeFlag } from './wire-values.ts';
import type { Writers } from './writers.ts';

interface SessionView {
  readonly session: Session;
  readonly by: Principal;
  readonly accounts: readonly Account[];
  readonly now: number;
  readonly timeZone: string;
  /** Parts of the service that run here. */
  readonly features: Readonly<Record<'acme' | 'sms' | 'review' | 'live', boolean>>;
}

type SessionRoute = Extract<RouteName, `session.${string}`>;

export const READ_SESSIONS = {
  'session.begin': toModelNames<RequestOf<'session.begin'>>,
  'session.get': () => undefined,
  'session.use': toModelNames<RequestOf<'session.use'>>,
  'session.end': () => undefined,
} satisfies { readonly [N in SessionRoute]: (request: RequestOf<N>) => unknown };

export const WRITE_SESSIONS = {
  'session.begin': ({ session }: BegunSession) => ({ next: session.isPending ? 'second' : 'done' }) as const,
  'session.get': writeSession,
} satisfies Writers<SessionRoute>;

/** `Set-Cookie` of the answers to these operations. */
export const SESSION_COOKIES = {
  'session.begin': cookieOf,
  'session.end': () => NO_SESSION_COOKIE,
};

function cookieOf({ session, secret }: BegunSession): string {
  return sessionCookie(secret, Math.floor((session.expiresAt - session.createdAt) / 1000));
}

function writeSession({ session, by, accounts, now, timeZone, features }: SessionView): DataOf<'session.get'> {
  const look = currentLook(session, now);
  return {
    session_id: String(session.id),
    method: session.method,
    person: null,
    token: by.token === undefined ? null : { token_id: String(by.token.id), label: by.token.label },
    accounts: accounts.map(({ id, name, kind, isDisabled }) => ({
      account_id: String(id),
      name,
      kind,
      role: '',
      second_factor: '0',
      disabled: writeFlag(isDisabled),
    })),
    account_id: by.accountId === undefined ? '' : String(by.accountId),
    scopes: [...by.scopes],
    access: [...by.access],
    look: look === undefined ? null : { account_id: String(look.accountId), reason: look.reason, until: look.until },
    created_at: session.createdAt,
    expires_at: session.expiresAt,
    strong_until: strongUntil(session),
    time_zone: timeZone,
    features: {
      acme: writeFlag(features.acme),
      sms: writeFlag(features.sms),
      review: writeFlag(features.review),
      live: writeFlag(features.live),
    },
  };
}
