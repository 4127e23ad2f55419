/** Sessions on the wire, and the cookies that answers set. Used by `wire.ts` only. */
import type { DataOf, RequestOf } from '#contract/operations.ts';
import type { RouteName } from '#contract/routes.ts';
import { toModelNames } from '#lib/model-names.ts';
import type { Account } from '#model/account.ts';
import { asksForSecondFactor, hasSecondFactor, type Person, type Role } from '#model/person.ts';
import { currentLook, type Session, strongUntil } from '#model/session.ts';
import type { Principal } from '../auth/authenticate.ts';
import type { BegunSession } from '../auth/begin-session.ts';
import { NO_SESSION_COOKIE, sessionCookie } from '../auth/browser.ts';
import { writeFlag } from './wire-values.ts';
import type { Writers } from './writers.ts';

interface SessionView {
  readonly session: Session;
  readonly by: Principal;
  /** Absent: the session acts for a token. */
  readonly person: Person | undefined;
  readonly accounts: readonly { readonly account: Account; readonly role?: Role }[];
  /** The customer that an operator looks at. */
  readonly looked: Account | undefined;
  readonly now: number;
  readonly timeZone: string;
  /** Parts of the service that run here. */
  readonly features: Readonly<Record<'acme' | 'sms' | 'review' | 'live', boolean>>;
}

interface SessionList {
  readonly current: Session;
  readonly sessions: readonly Session[];
}

type SignedIn = BegunSession & { readonly failedBefore: number };

/** What the browser's WebAuthn interface takes. */
type PasskeyOptions = object;

type SessionRoute = Extract<RouteName, `session.${string}`>;

export const READ_SESSIONS = {
  'session.begin': toModelNames<RequestOf<'session.begin'>>,
  'session.second': toModelNames<RequestOf<'session.second'>>,
  'session.passkeyChallenge': () => undefined,
  'session.methods': () => undefined,
  'session.beginProvider': () => undefined,
  'session.get': () => undefined,
  'session.use': toModelNames<RequestOf<'session.use'>>,
  'session.look': toModelNames<RequestOf<'session.look'>>,
  'session.list': () => undefined,
  'session.revoke': toModelNames<RequestOf<'session.revoke'>>,
  'session.end': () => undefined,
} satisfies { readonly [N in SessionRoute]: (request: RequestOf<N>) => unknown };

export const WRITE_SESSIONS = {
  'session.begin': ({ session, failedBefore }: SignedIn) =>
    ({ next: session.isPending ? 'second' : 'done', failed_before: failedBefore }) as const,
  'session.second': (_: BegunSession | undefined) => true,
  'session.passkeyChallenge': writeOptions,
  'session.methods': writeMethods,
  'session.beginProvider': (begun: { readonly location: string; readonly flow: string }) => begun,
  'session.get': writeSession,
  'session.look': (until: number) => ({ until }),
  'session.list': writeList,
} satisfies Writers<SessionRoute>;

/** `Set-Cookie` of the answers to these operations; `undefined`: the cookie stays. */
export const SESSION_COOKIES = {
  'session.begin': cookieOf,
  'session.second': cookieOf,
  'session.end': () => NO_SESSION_COOKIE,
};

export function cookieOf(begun: BegunSession | undefined): string | undefined {
  if (begun === undefined) return undefined;
  const { session, secret } = begun;
  return sessionCookie(secret, Math.floor((session.expiresAt - session.createdAt) / 1000));
}

interface SignInMethods {
  readonly consoleUrl: string;
  readonly hasPeople: boolean;
  readonly provider: string;
}

function writeMethods({ consoleUrl, hasPeople, provider }: SignInMethods): DataOf<'session.methods'> {
  return { console_url: consoleUrl, people: writeFlag(hasPeople), provider };
}

export function writeOptions(options: PasskeyOptions) {
  return { options: { ...options } };
}

function writeSession({ session, by, person, accounts, looked, ...service }: SessionView): DataOf<'session.get'> {
  const look = currentLook(session, service.now);
  const { acme, sms, review, live } = service.features;
  return {
    session_id: String(session.id),
    method: session.method,
    person: person === undefined ? null : writeSelf(person),
    token: by.token === undefined ? null : { token_id: String(by.token.id), label: by.token.label },
    accounts: accounts.map(({ account, role = '' }) => ({
      account_id: String(account.id),
      name: account.name,
      kind: account.kind,
      role,
      second_factor: writeFlag(asksForSecondFactor(account)),
      disabled: writeFlag(account.isDisabled),
    })),
    account_id: by.accountId === undefined ? '' : String(by.accountId),
    scopes: [...by.scopes],
    access: [...by.access],
    look:
      look === undefined || look.accountId !== by.accountId
        ? null
        : {
            account_id: String(look.accountId),
            account_name: looked?.name ?? '',
            reason: look.reason,
            until: look.until,
          },
    created_at: session.createdAt,
    expires_at: session.expiresAt,
    strong_until: strongUntil(session),
    time_zone: service.timeZone,
    features: { acme: writeFlag(acme), sms: writeFlag(sms), review: writeFlag(review), live: writeFlag(live) },
  };
}

function writeSelf(person: Person): NonNullable<DataOf<'session.get'>['person']> {
  return {
    person_id: String(person.id),
    email: person.email,
    name: person.name,
    locale: person.locale,
    time_zone: person.timeZone,
    density: person.density,
    has_second_factor: writeFlag(hasSecondFactor(person)),
  };
}

function writeList({ current, sessions }: SessionList): DataOf<'session.list'> {
  return {
    list: sessions.map((session) => ({
      session_id: String(session.id),
      current: writeFlag(session.id === current.id),
      method: session.method,
      address: session.address,
      user_agent: session.userAgent,
      created_at: session.createdAt,
      seen_at: session.seenAt,
      expires_at: session.expiresAt,
    })),
  };
}
