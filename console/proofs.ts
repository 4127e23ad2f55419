/** The question for a proof who is signed in: calls that need one wait for its answer together. docs/decisions/0695 */
import { createStore, type Store } from './lib/store.ts';

export interface Proofs {
  /** Whether a call waits. */
  readonly isWanted: Store<boolean>;
  /** Waits until the person has proven who it is; false: the person gave up. */
  ask(): Promise<boolean>;
  settle(isProven: boolean): void;
}

export function createProofs(): Proofs {
  const isWanted = createStore(false);
  let answer = Promise.withResolvers<boolean>();
  return {
    isWanted,
    ask: async () => {
      isWanted.set(true);
      return await answer.promise;
    },
    settle: (isProven) => {
      isWanted.set(false);
      answer.resolve(isProven);
      answer = Promise.withResolvers();
    },
  };
}
