/**
 * 64-bit hash of a cache key, under which its entry is looked up. The key itself is stored and compared, so a collision
 * is only a miss.
 */
import { hash } from 'node:crypto';

/** 16 hexadecimal digits. Cryptographic, so that clients cannot construct keys that collide. */
export type KeyHash = string;

export type HashKey = (key: string) => KeyHash;

export function hashKey(key: string): KeyHash {
  return hash('sha256', key, 'hex').slice(0, 16);
}

/** Keys whose hash is remembered: more than requests that are in flight, mostly. */
const RECENT_KEYS = 256;

/**
 * Returns a `hashKey` that remembers recent keys: the tiers of a store look up the same key one after another, and a
 * miss puts it later.
 */
export function createKeyHasher(): HashKey {
  const recent: { readonly key: string; readonly hash: KeyHash }[] = [];
  return (key) => {
    const place = placeOf(key);
    const known = recent[place];
    if (known?.key === key) return known.hash;
    const made = { key, hash: hashKey(key) };
    recent[place] = made;
    return made.hash;
  };
}

/** Keys differ mostly in their last characters, some of which may be an extension. */
function placeOf(key: string): number {
  let place = 0;
  for (let at = Math.max(0, key.length - 8); at < key.length; at++) place = place * 31 + key.charCodeAt(at);
  return place % RECENT_KEYS;
}

/** Splits a hash into two unsigned 32-bit numbers. */
export function splitHash(hash: KeyHash): { readonly high: number; readonly low: number } {
  return { high: readWord(hash, 0), low: readWord(hash, 8) };
}

/** Reads eight digits. Slices and `parseInt` would allocate, and a put splits its hash five times. */
function readWord(hash: KeyHash, from: number): number {
  let word = 0;
  for (let at = from; at < from + 8; at++) {
    const code = hash.charCodeAt(at);
    word = (word << 4) | (code < 0x3a ? code - 0x30 : code - 0x57);
  }
  return word >>> 0;
}

export function joinHash(high: number, low: number): KeyHash {
  return high.toString(16).padStart(8, '0') + low.toString(16).padStart(8, '0');
}
