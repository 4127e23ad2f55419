/** People, and the roles that they have in accounts: what a role may do is said in the words of tokens. docs/decisions/0662 */
import { ACCESS, type Account, type AccountKind, type TokenAccess } from './account.ts';

export const ROLES = ['viewer', 'editor', 'billing', 'owner', 'operator', 'admin'] as const;

export type Role = (typeof ROLES)[number];

/** The roles of each kind of account; the last one decides over the others. */
export const ROLES_OF_KIND = {
  customer: ['viewer', 'editor', 'billing', 'owner'],
  operator: ['viewer', 'operator', 'admin'],
} as const satisfies Readonly<Record<AccountKind, readonly Role[]>>;

export const TOP_ROLE: Readonly<Record<AccountKind, Role>> = { customer: 'owner', operator: 'admin' };

const ACCESS_OF_ROLE: Readonly<Record<Role, readonly TokenAccess[]>> = {
  viewer: ['read'],
  editor: ['read', 'write'],
  billing: ['money'],
  owner: ACCESS,
  operator: ['read', 'write', 'money'],
  admin: ACCESS,
};

export function isRoleOf(kind: AccountKind, role: Role): boolean {
  return ROLES_OF_KIND[kind].some((one) => one === role);
}

/** Nothing, if accounts of this kind have no such role. */
export function accessOfRole(kind: AccountKind, role: Role): readonly TokenAccess[] {
  return isRoleOf(kind, role) ? ACCESS_OF_ROLE[role] : [];
}

export function rolesWith(kind: AccountKind, access: TokenAccess): readonly Role[] {
  return ROLES_OF_KIND[kind].filter((role) => ACCESS_OF_ROLE[role].includes(access));
}

/** Whether members have to sign in with a second factor. Accounts of operators ask for it unless told otherwise. */
export function asksForSecondFactor({ kind, secondFactor }: Pick<Account, 'kind' | 'secondFactor'>): boolean {
  return secondFactor ?? kind === 'operator';
}

export const DENSITIES = ['normal', 'dense'] as const;

/** Empty texts: not chosen. */
export interface PersonProfile {
  readonly name: string;
  readonly locale: string;
  /** IANA name. */
  readonly timeZone: string;
  readonly density: (typeof DENSITIES)[number];
}

export interface Person extends PersonProfile {
  readonly id: number;
  /** The address in lower case. */
  readonly email: string;
  readonly createdAt: number;
  readonly isDisabled: boolean;
  /** When the password was set; absent: there is none. */
  readonly passwordAt?: number;
  /** When TOTP was confirmed; absent: it is off. */
  readonly totpAt?: number;
  /** When an identity provider was linked; absent: it is not. */
  readonly identityAt?: number;
  /** Newest step of time whose code was used: earlier ones, and itself, count no more. */
  readonly totpStep: number;
  readonly passkeys: number;
}

export interface AccountMembership {
  readonly personId: number;
  readonly accountId: number;
  readonly role: Role;
  /** The author: `person:3`, `token:7`, or `provider`, for a group of the identity provider. */
  readonly invitedBy: string;
  readonly createdAt: number;
}

/** Members of a group of the identity provider have this role in this account. */
export interface GroupRole {
  readonly group: string;
  readonly accountId: number;
  readonly role: Role;
}

export function hasSecondFactor({ totpAt, passkeys }: Pick<Person, 'totpAt' | 'passkeys'>): boolean {
  return totpAt !== undefined || passkeys > 0;
}

/** Addresses are compared without case. */
export function normalEmail(email: string): string {
  return email.trim().toLowerCase();
}
