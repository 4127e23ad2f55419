/**
 * Ranks the parents of a key by rendezvous hashing: every edge ranks them alike, and a parent that leaves moves only its
 * own keys. Pure.
 */
import { hash } from 'node:crypto';

export function rankParents<P extends { readonly edge: string }>(parents: readonly P[], key: string): readonly P[] {
  return parents
    .map((parent) => ({ parent, score: hash('sha256', `${parent.edge} ${key}`) }))
    .sort((a, b) => (a.score < b.score ? 1 : -1))
    .map(({ parent }) => parent);
}
