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
  return { high: Number.parseInt(hash.slice(0, 8), 16), low: Number.parseInt(hash.slice(8), 16) };
}

export function joinHash(high: number, low: number): KeyHash {
  return high.toString(16).padStart(8, '0') + low.toString(16).padStart(8, '0');
}
