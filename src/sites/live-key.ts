/**
 * Signed addresses of live streams, Aliyun's type A: `auth_key=<expiry>-<rand>-<uid>-<md5 of path-expiry-rand-uid-key>`.
 * The expiry is in Unix seconds. docs/decisions/0501
 */
import { createHash, timingSafeEqual } from 'node:crypto';

/** `missing`: there is no `auth_key`. `wrong`: made for another path, or with another key. */
export type LiveKeyRefusal = 'missing' | 'malformed' | 'expired' | 'wrong';

export type LiveKeyCheck =
  | { readonly kind: 'valid'; readonly expiresAt: number }
  | { readonly kind: 'refused'; readonly reason: LiveKeyRefusal };

export interface CheckedKey {
  /** The value of `auth_key`, decoded; absent: the address has none. */
  readonly value: string | undefined;
  /** The path that was signed, with its leading slash and without a query, such as `/live/news` or `/live/news.flv`. */
  readonly path: string;
  /** Any of these makes the address valid. */
  readonly keys: readonly string[];
  /** Epoch milliseconds. */
  readonly now: number;
}

const AUTH_KEY = /^(\d{1,10})-([A-Za-z0-9_]{1,64})-([A-Za-z0-9_]{1,64})-([0-9a-fA-F]{32})$/;

export function checkAuthKey({ value, path, keys, now }: CheckedKey): LiveKeyCheck {
  if (value === undefined || value === '') return { kind: 'refused', reason: 'missing' };
  const [, expiry, random, uid, sent] = AUTH_KEY.exec(value) ?? [];
  if (expiry === undefined || random === undefined || uid === undefined || sent === undefined) {
    return { kind: 'refused', reason: 'malformed' };
  }
  const given = Buffer.from(sent, 'hex');
  let isKnown = false;
  // Every key is tried, so that the time taken does not say which one matched.
  for (const key of keys) {
    if (timingSafeEqual(given, digest({ path, expiry, random, uid, key }))) isKnown = true;
  }
  if (!isKnown) return { kind: 'refused', reason: 'wrong' };
  const expiresAt = Number(expiry) * 1000;
  return now < expiresAt ? { kind: 'valid', expiresAt } : { kind: 'refused', reason: 'expired' };
}

/** The value of `auth_key` in a query; the first one counts. `undefined`: there is none. The question mark may be missing. */
export function readAuthKey(query: string): string | undefined {
  return new URLSearchParams(query).get('auth_key') ?? undefined;
}

/** `member`: a name and its value, as a query has them between two `&`. */
export function isAuthKeyMember(member: string): boolean {
  return readAuthKey(member) !== undefined;
}

/**
 * An address, or the end of one, whose keys are not for readers of a log. Names that are percent-encoded are found too, and those in
 * another case: as keys they count for nothing, but what they hold may be good.
 */
export function maskAuthKeys(address: string): string {
  return address.replace(/([?&])([^?&=#]+)(?:=[^&#]*)?/g, (member, mark: string, name: string) =>
    decodeName(name).toLowerCase() === 'auth_key' ? `${mark}auth_key=***` : member,
  );
}

function decodeName(name: string): string {
  return name.replace(/%([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
}

/** Makes the value of `auth_key`. `random`: 1 to 64 letters and digits. `expiresAt` is rounded down to whole seconds. */
export function makeAuthKey(signed: {
  readonly path: string;
  readonly key: string;
  readonly expiresAt: number;
  readonly random: string;
}): string {
  const { path, key, random } = signed;
  const expiry = String(Math.floor(signed.expiresAt / 1000));
  return `${expiry}-${random}-${NO_USER}-${digest({ path, expiry, random, uid: NO_USER, key }).toString('hex')}`;
}

const NO_USER = '0';

interface Parts {
  readonly path: string;
  readonly expiry: string;
  readonly random: string;
  readonly uid: string;
  readonly key: string;
}

function digest({ path, expiry, random, uid, key }: Parts): Buffer {
  return createHash('md5').update([path, expiry, random, uid, key].join('-')).digest();
}
