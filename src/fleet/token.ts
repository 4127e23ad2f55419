/** Tokens that enrol edges: `cwf1.<secret>.<pin>`. The pin is the authority's, so that the first connection is safe. */
import { hash } from 'node:crypto';
import { createAddressSet } from '#lib/cidr.ts';
import type { EdgeToken } from '#model/fleet.ts';

export const SECRET_BYTES = 32;
/** Time for which a lost answer is repeated to the same machine. */
const REPEAT_MS = 600_000;

export interface EnrolmentToken {
  readonly secret: string;
  /** See `pinOf`. */
  readonly pin: string;
}

/** `secret`: 32 random bytes. */
export function formatToken(secret: Buffer, pin: string): string {
  return `cwf1.${secret.toString('base64url')}.${pin}`;
}

/** Returns `undefined` if the text does not have the form of a token. */
export function parseToken(text: string): EnrolmentToken | undefined {
  const [, secret, pin] = /^cwf1\.([\w-]{43})\.([\w-]{43})$/.exec(text) ?? [];
  return secret === undefined || pin === undefined ? undefined : { secret, pin };
}

/** Returns SHA-256 in hex. Look-ups by it need not take constant time, as with access tokens. */
export function hashSecret(secret: string): string {
  return hash('sha256', secret);
}

export interface TokenUse {
  readonly now: number;
  /** Address that it is used from. */
  readonly address: string;
  /** When a certificate for the same key was issued with this token. */
  readonly issuedAt: number | undefined;
}

/** `repeat`: the answer to an earlier use by the same machine may have been lost, so it is given again. */
export function judgeToken(token: EdgeToken | undefined, { now, address, issuedAt }: TokenUse) {
  if (token === undefined || token.revokedAt !== undefined) return 'refused';
  if (token.addresses !== undefined && !createAddressSet(token.addresses).has(address)) return 'refused';
  if (issuedAt !== undefined) return Math.abs(now - issuedAt) < REPEAT_MS ? 'repeat' : 'refused';
  return token.expiresAt > now && token.used < token.uses ? 'use' : 'refused';
}
