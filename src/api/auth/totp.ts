/** Time-based one-time passwords (RFC 6238): SHA-1, 6 digits, steps of 30 s, as every authenticator app has them. Pure. */
import { createHmac } from 'node:crypto';

const STEP_MS = 30_000;
const DIGITS = 6;
/** 160 bits. RFC 4226 §4 R6 */
export const TOTP_KEY_BYTES = 20;
/** Clocks differ, and people type: the step before and the next one count too. RFC 6238 §5.2 */
const WINDOW = [0, -1, 1] as const;

/** The step of time that the code is of; `undefined` if it is of none around `now`. */
export function totpStepOf(key: Buffer, code: string, now: number): number | undefined {
  const current = Math.floor(now / STEP_MS);
  return WINDOW.map((offset) => current + offset).find((step) => step >= 0 && totpCode(key, step) === code);
}

/** The code of a step. RFC 4226 §5.3 */
export function totpCode(key: Buffer, step: number): string {
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(step));
  const mac = createHmac('sha1', key).update(counter).digest();
  const offset = (mac.at(-1) ?? 0) & 15;
  const number = mac.readUInt32BE(offset) & 0x7fff_ffff;
  return String(number % 10 ** DIGITS).padStart(DIGITS, '0');
}

/** What an app scans. `issuer`: the name of the service. */
export function totpUrl(key: Buffer, issuer: string, email: string): string {
  const label = `${encodeURIComponent(issuer)}:${encodeURIComponent(email)}`;
  return `otpauth://totp/${label}?secret=${base32(key)}&issuer=${encodeURIComponent(issuer)}`;
}

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';

/** RFC 4648 §6, without padding. */
export function base32(bytes: Buffer): string {
  const bits = [...bytes].map((byte) => byte.toString(2).padStart(8, '0')).join('');
  return (bits.match(/.{1,5}/g) ?? []).map((five) => ALPHABET[Number.parseInt(five.padEnd(5, '0'), 2)]).join('');
}
