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
}

export const SCOPES = ['cdn', 'sms', 'operator'] as const;

export type Scope = (typeof SCOPES)[number];

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
