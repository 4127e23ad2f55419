/** Recovery codes: 80 random bits each, so that their hashes need no salt and no time. docs/decisions/0664 */
import { hash, randomBytes } from 'node:crypto';
import { base32 } from './totp.ts';

const CODES = 10;
const CODE_BYTES = 10;

/** Makes ten codes, in groups of four letters. */
export function makeRecoveryCodes(): readonly string[] {
  return Array.from({ length: CODES }, () => {
    const letters = base32(randomBytes(CODE_BYTES)).toLowerCase();
    return (letters.match(/.{4}/g) ?? []).join('-');
  });
}

/** However it was typed. */
export function hashRecoveryCode(code: string): string {
  return hash('sha256', `causeway recovery code ${code.replaceAll('-', '').toLowerCase()}`);
}
