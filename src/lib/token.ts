/** Access tokens: 256 random bits, of which only the SHA-256 is kept. */
import { hash, randomBytes } from 'node:crypto';

/** Says what it is when it turns up in a log or a repository; secret scanners look for such prefixes. */
const PREFIX = 'cwy_';

/** `random` gives that many unpredictable bytes. 47 characters, safe in a header and in a URL. */
export function mintToken(random: (bytes: number) => Buffer = randomBytes): string {
  return PREFIX + random(32).toString('base64url');
}

/**
 * Returns the hash in hex. A look-up by it needs no constant time: without the token nobody can choose its hash. Plain
 * SHA-256 is enough for 256 random bits; there is nothing to guess.
 */
export function hashToken(token: string): string {
  return hash('sha256', token);
}

/** Whether `mintToken` may have made it. */
export function isMinted(text: string): boolean {
  return new RegExp(`^${PREFIX}[\\w-]{43}$`).test(text);
}
