/** A cache key's 64-bit hash: where it is looked for. The key itself is stored and compared, so a collision is only a miss. */
import { hash } from 'node:crypto';

/** 16 hexadecimal digits. Cryptographic, so that nobody can make keys that push each other out. */
export type KeyHash = string;

export type HashKey = (key: string) => KeyHash;

export function hashKey(key: string): KeyHash {
  return hash('sha256', key, 'hex').slice(0, 16);
}

/** A `hashKey` that remembers the last key: the tiers of a store are asked for the same one, each in its turn. */
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
