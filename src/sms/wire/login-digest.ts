/** Digests by which CMPP and SMGP prove that both sides know the password, which does not cross the wire. Pure. */
import { createHash } from 'node:crypto';

/** China has one time zone. */
const BEIJING_MS = 8 * 3600 * 1000;

/** Returns `MMDDHHMMSS` in Beijing time. */
export function beijingStamp(now: number): string {
  return new Date(now + BEIJING_MS).toISOString().slice(5, 19).replace(/\D/g, '');
}

/** Returns the digest of a login in hexadecimal. `zeros`: octets between the account and the password. */
export function loginDigest(account: string, zeros: number, password: string, stamp: string): string {
  return createHash('md5').update(account).update(Buffer.alloc(zeros)).update(password).update(stamp).digest('hex');
}

/**
 * Whether a gateway's digest proves that it knows the password. It is computed from the status in one octet or in four:
 * gateways differ, whatever the width of the field.
 */
export function isProven(digest: string, status: number, login: string, password: string): boolean {
  const four = Buffer.alloc(4);
  four.writeUInt32BE(status);
  const ofStatus = (octets: Buffer) =>
    createHash('md5').update(octets).update(login, 'hex').update(password).digest('hex');
  return [four, four.subarray(3)].some((octets) => ofStatus(octets) === digest);
}
