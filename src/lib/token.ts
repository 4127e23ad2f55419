/** Access tokens: 256 random bits, of which only the SHA-256 hash is stored. */
import { hash, randomBytes } from 'node:crypto';

/** Identifies a leaked token in logs and repositories: secret scanners search for such prefixes. */
const PREFIX = 'cwy_';

/**
 * Creates a token of 47 characters, safe in headers and URLs. `random` returns the given number of unpredictable bytes.
 */
export function mintToken(random: (bytes: number) => Buffer = randomBytes): string {
  return PREFIX + random(32).toString('base64url');
}

/**
 * Returns the hash in hex. Look-ups by hash need not take constant time, since a hash cannot be chosen without its
 * token. Plain SHA-256 is enough for 256 random bits.
 */
export function hashToken(token: string): string {
  return hash('sha256', token);
}

/** Whether the text has the form of a token. */
export function isMinted(text: string): boolean {
  return new RegExp(`^${PREFIX}[\\w-]{43}$`).test(text);
}
