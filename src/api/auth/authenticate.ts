/** Whose access token it is, and whether it may be used now: look-up by hash, unknown ones counted per address. */
import { timingSafeEqual } from 'node:crypto';
import { ServiceError } from '#contract/errors/service-error.ts';
import type { Db } from '#db/open.ts';
import { findTokensByHash, type TokenOfAccount } from '#db/tables/tokens.ts';
import { clientNetwork, createAddressSet } from '#lib/cidr.ts';
import type { Clock } from '#lib/clock.ts';
import { SharedLookUps } from '#lib/shared-look-ups.ts';
import { hashToken } from '#lib/token.ts';
import { ACCESS, type AccountLimits, isTokenUsable, type Scope, type TokenAccess } from '#model/account.ts';
import type { Session } from '#model/session.ts';
import type { BrowserFields } from './browser.ts';
import { FailedTokens } from './failed-tokens.ts';

/** The caller's account and token, and the address of the call. */
export interface Caller {
  /** The client's address, as trusted proxies tell it. */
  readonly address: string;
  /** Whether the connection comes from this machine and was not forwarded by a proxy. */
  readonly isLocal: boolean;
  /** User of this machine, as the command says it; empty: not said. */
  readonly user?: string;
  /** Absent: the caller is no browser. */
  readonly browser?: BrowserFields;
}

export interface Principal {
  /** The token of the call, or that its session acts for. */
  readonly token?: TokenInUse;
  /** The session of the call's cookie. */
  readonly session?: Session;
  /** The person who is signed in. */
  readonly person?: PersonInUse;
  /** The account that the call acts for. Absent: the command line of this machine, or no account is in view. */
  readonly accountId?: number;
  readonly scopes: readonly Scope[];
  readonly access: readonly TokenAccess[];
  /** Domains that the token is limited to; `undefined`: all of the account. */
  readonly domainIds: readonly number[] | undefined;
  /** Limits of the account. */
  readonly limits: AccountLimits;
  /** The account is; its token is good all the same. */
  readonly isDisabled: boolean;
  /** The account asks for a second factor, and the session has proven none. */
  readonly lacksSecondFactor?: boolean;
}

interface PersonInUse {
  readonly id: number;
  readonly name: string;
}

interface TokenInUse {
  readonly id: number;
  readonly accountId: number;
  readonly label: string;
  /** The token may not be used from the call's address. */
  readonly isElsewhere: boolean;
}

export interface AuthenticateOptions {
  readonly db: Db;
  /** Works as an operator's token, from this machine only. */
  readonly localSecret: string;
  readonly failedTokensPerMinute: number;
  /** Number of controls that share the limit. */
  readonly controls: () => number;
  /** Clock for rates: only goes forward. */
  readonly steadyClock: Clock;
}

/** Throws `ServiceError` for anything but a good token. */
export type Authenticate = (accessToken: string, caller: Caller, now: number) => Promise<Principal>;

/** Calls of one caller with one token that came before its look-up was asked: they need one between them. */
interface Shared {
  /** Instant of the latest call. */
  now: number;
  readonly principal: Promise<Principal>;
}

export function createAuthenticate(options: AuthenticateOptions): Authenticate {
  const { db, localSecret, failedTokensPerMinute, controls, steadyClock } = options;
  const failures = new FailedTokens(failedTokensPerMinute, steadyClock, controls);
  const localHash = Buffer.from(hashToken(localSecret));
  const waiting = new Map<string, Shared>();
  const tokens = new SharedLookUps((take: () => readonly string[]) =>
    db.lookUps.connection().execute((x) => {
      waiting.clear(); // later callers need a look-up of their own
      return findTokensByHash(x, take());
    }),
  );
  const find = async (accessToken: string, { address, isLocal }: Caller, nowOf: () => number): Promise<Principal> => {
    const hash = hashToken(accessToken);
    if (isLocal && timingSafeEqual(Buffer.from(hash), localHash)) return LOCAL;
    const found = await tokens.get(hash);
    if (found === undefined) throw failures.refusalOf(clientNetwork(address));
    return principalOfToken(found, address, nowOf());
  };
  return (accessToken, caller, now) => {
    const key = `${caller.isLocal} ${caller.address} ${accessToken}`;
    const before = waiting.get(key);
    if (before !== undefined) {
      before.now = now;
      return before.principal;
    }
    const shared: Shared = { now, principal: find(accessToken, caller, () => shared.now) };
    waiting.set(key, shared);
    const forget = () => {
      if (waiting.get(key) === shared) waiting.delete(key);
    };
    shared.principal.then(forget, forget); // it may end before anything is asked
    return shared.principal;
  };
}

/** Throws `ServiceError` if the token cannot be used at `now`. */
export function principalOfToken(found: TokenOfAccount, address: string, now: number): Principal {
  const refusal = refusalOf(found, now);
  if (refusal !== undefined) throw new ServiceError(refusal);
  const { id, accountId, label, scopes, domainIds, addresses } = found.token;
  const access = found.formerUntil === undefined ? found.token.access : withoutManage(found.token.access);
  const isElsewhere = addresses !== undefined && !createAddressSet(addresses).has(address);
  const { limits, isDisabled } = found.account;
  return { token: { id, accountId, label, isElsewhere }, accountId, scopes, access, domainIds, limits, isDisabled };
}

/** The command line of this machine. */
const LOCAL: Principal = { scopes: ['operator'], access: ACCESS, domainIds: undefined, limits: {}, isDisabled: false };

/** A former secret may be the one that was lost: with it nobody rotates the token once more. docs/decisions/0630 */
function withoutManage(access: readonly TokenAccess[]): readonly TokenAccess[] {
  return access.filter((one) => one !== 'manage');
}

function refusalOf({ token, formerUntil }: TokenOfAccount, now: number) {
  if (token.revokedAt !== undefined) return 'tokenRevoked';
  if (!isTokenUsable(token, now)) return 'tokenExpired';
  return formerUntil !== undefined && formerUntil <= now ? 'tokenReplaced' : undefined;
}
