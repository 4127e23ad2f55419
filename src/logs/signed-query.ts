/**
 * The query of a bearer link that expires. It is signed with a key derived from the key ring, so control stores no
 * links.
 */
import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto';
import type { Keyring } from '#db/secrets/keyring.ts';

export interface UrlSignature {
  /** Unix seconds. */
  readonly expires: number;
  /** Id of a key of the ring. */
  readonly keyId: string;
  readonly signature: string;
}

export type SignatureState = 'valid' | 'invalid' | 'expired';

/** The signed values, which identify the file. */
export type SignedValues = readonly (string | number)[];

/** Returns the query without `?`. A signature for one purpose is invalid for any other. */
export function signedQuery(ring: Keyring, purpose: string, values: SignedValues, expires: number): string {
  const { id, key } = ring.newest;
  const signature = sign(key, purpose, values, expires);
  return String(new URLSearchParams({ expires: String(expires), key: id, signature }));
}

/** Returns `undefined` if there is no expiry. */
export function parseSignature(query: URLSearchParams): UrlSignature | undefined {
  const expires = query.get('expires') ?? '';
  if (!/^\d{1,12}$/.test(expires)) return undefined;
  return { expires: Number(expires), keyId: query.get('key') ?? '', signature: query.get('signature') ?? '' };
}

/** Checks a signature in constant time. `now`: epoch milliseconds. */
export function checkSigned(
  ring: Keyring,
  purpose: string,
  values: SignedValues,
  { expires, keyId, signature }: UrlSignature,
  now: number,
): SignatureState {
  const key = ring.find(keyId)?.key;
  if (key === undefined) return 'invalid';
  const expected = Buffer.from(sign(key, purpose, values, expires));
  const given = Buffer.from(signature);
  if (expected.length !== given.length || !timingSafeEqual(expected, given)) return 'invalid';
  return now < expires * 1000 ? 'valid' : 'expired';
}

function sign(ringKey: Buffer, purpose: string, values: SignedValues, expires: number): string {
  const key = Buffer.from(hkdfSync('sha256', ringKey, '', purpose, 32));
  return createHmac('sha256', key)
    .update(JSON.stringify([...values, expires]))
    .digest('base64url');
}
