/** Sessions of browsers: the person or token that one stands for, the account in view, and its end. docs/decisions/0662 */

/**
 * How a session has begun. `token`: an access token was exchanged for it. `password`: without a second factor. `second`:
 * a password, and a second factor. `provider`: an identity provider vouched for the person.
 */
export const SIGN_IN_METHODS = ['token', 'password', 'second', 'passkey', 'provider'] as const;

export type SignInMethod = (typeof SIGN_IN_METHODS)[number];

/** An operator looks at a customer's account, which is read only. */
export interface CustomerLook {
  readonly accountId: number;
  readonly until: number;
  readonly reason: string;
}

export interface Session {
  readonly id: number;
  /** The person who is signed in; absent: the session acts for a token. */
  readonly personId?: number;
  readonly tokenId?: number;
  /** The account in view; absent: the person has none. */
  readonly accountId?: number;
  readonly method: SignInMethod;
  /** The password was right, and a second factor is awaited. */
  readonly isPending: boolean;
  /** "Keep me signed in". */
  readonly isKept: boolean;
  readonly createdAt: number;
  /** Time of the last call, to about a minute. */
  readonly seenAt: number;
  readonly expiresAt: number;
  /** When the person last proved more than the cookie. */
  readonly strongAt?: number;
  readonly look?: CustomerLook;
  /** The client's address and browser at sign-in. */
  readonly address: string;
  readonly userAgent: string;
}

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

interface SessionLimits {
  /** Time from sign-in to the end. */
  readonly absoluteMs: number;
  /** Longest time between two calls. */
  readonly idleMs: number;
}

const ORDINARY: SessionLimits = { absoluteMs: 12 * HOUR_MS, idleMs: 2 * HOUR_MS };
const KEPT: SessionLimits = { absoluteMs: 30 * DAY_MS, idleMs: 7 * DAY_MS };
const PENDING: SessionLimits = { absoluteMs: 10 * MINUTE_MS, idleMs: 10 * MINUTE_MS };
const STRONG_MS = 15 * MINUTE_MS;
export const LOOK_MS = HOUR_MS;

export function sessionLimits({ isPending, isKept }: Pick<Session, 'isPending' | 'isKept'>): SessionLimits {
  if (isPending) return PENDING;
  return isKept ? KEPT : ORDINARY;
}

export function isSessionAlive(session: Session, now: number): boolean {
  return now < session.expiresAt && now - session.seenAt < sessionLimits(session).idleMs;
}

/** End of the time in which acts are allowed that need a recent proof; 0: there was none. */
export function strongUntil({ strongAt }: Pick<Session, 'strongAt'>): number {
  return strongAt === undefined ? 0 : strongAt + STRONG_MS;
}

/** Whether the session began with a second factor, or has proven one since. */
export function hasProvenSecondFactor({ method }: Pick<Session, 'method'>): boolean {
  return method === 'second' || method === 'passkey' || method === 'provider';
}

/** The customer's account that the session looks at; `undefined`: none, or no longer. */
export function currentLook({ look }: Pick<Session, 'look'>, now: number): CustomerLook | undefined {
  return look !== undefined && now < look.until ? look : undefined;
}
