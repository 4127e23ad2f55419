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

/** Returns a `hashKey` that caches the last key, since the tiers of a store look up the same key one after another. */
export function createKeyHasher(): HashKey {
  let last = { key: '', hash: hashKey('') };
  return (key) => {
    if (key !== last.key) last = { key, hash: hashKey(key) };
    return last.hash;
  };
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
