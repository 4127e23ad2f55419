/** Accounts, and the tokens that prove them. The scopes and the access of a token say what it may do; its account is its owner. */

/** An operator account owns no domain; it runs the service. */
export type AccountKind = 'customer' | 'operator';

export interface Account {
  readonly id: number;
  readonly name: string;
  readonly kind: AccountKind;
  readonly createdAt: number;
  /** Tokens of a disabled account are refused; its domains and services stay in service. */
  readonly isDisabled: boolean;
  readonly limits: AccountLimits;
  /** Whether its members need a second factor; absent: as its kind has it. */
  readonly secondFactor?: boolean;
  /** Time since which its domains send more than `bandwidthMbps`; absent: they do not. */
  readonly overSince?: number;
}

/** What edges do for an account over its bandwidth: nothing, or refuse its viewers. */
export const OVER_BANDWIDTH = ['nothing', 'refuse'] as const;

/** Limits of one account. Absent members: those of the service, or none where the service has none. */
export interface AccountLimits {
  /** Calls a second of all its tokens together, in bursts of twice as many. */
  readonly requestsPerSecond?: number;
  readonly domains?: number;
  /** URLs within a day, as the next two. */
  readonly purgeUrls?: number;
  readonly purgeDirectories?: number;
  readonly prefetchUrls?: number;
  /** Mean of five minutes, to viewers. */
  readonly bandwidthMbps?: number;
  /** Absent: nothing. */
  readonly overBandwidth?: (typeof OVER_BANDWIDTH)[number];
}

export const SCOPES = ['cdn', 'sms', 'operator'] as const;

export type Scope = (typeof SCOPES)[number];

/** An operator's token works on `/operator/*` only, so it has nothing to do on a customer's account. */
export const SCOPES_OF_KIND: Readonly<Record<AccountKind, readonly Scope[]>> = {
  customer: ['cdn', 'sms'],
  operator: ['operator'],
};

/**
 * What an operation does: it shows something, changes something, or concerns tokens, accounts or other things that
 * decide over all the rest, or money. What shows secrets or texts of messages is no `read`.
 */
export const ACCESS = ['read', 'write', 'manage', 'money'] as const;

export type TokenAccess = (typeof ACCESS)[number];

/** The token itself is known to its holder only; we keep its hash. */
export interface Token {
  readonly id: number;
  readonly accountId: number;
  readonly scopes: readonly Scope[];
  readonly access: readonly TokenAccess[];
  /** The domains that it is limited to; absent: all of its account, also those that are added later. */
  readonly domainIds?: readonly number[];
  /** The holder's own words, to tell tokens apart. */
  readonly label: string;
  readonly createdAt: number;
  /** Absent: never. */
  readonly expiresAt?: number;
  readonly revokedAt?: number;
  /** Time of its last use, to about a minute; absent: never. */
  readonly lastUsedAt?: number;
  /** Networks that it may be used from; absent: from anywhere. */
  readonly addresses?: readonly string[];
}

export function isTokenUsable(token: Token, now: number): boolean {
  return token.revokedAt === undefined && (token.expiresAt === undefined || now < token.expiresAt);
}
