/** Stores of the workers of one machine: each has memory of its own, and all share a directory on disk. */
import { openStore } from '../../../src/edge/store/open.ts';
import type { CacheStore } from '../../../src/edge/store/store.ts';
import { temporaryFolder } from '../temporary.ts';
import { overwrite } from './overwrite.ts';

/** Returns a function that opens the store of another worker; it is closed after the test. */
export function sharedStores(t: { after(work: () => unknown): void }, memoryBytes: number): () => CacheStore {
  const directory = temporaryFolder(t);
  return () => {
    const onProblem = () => undefined;
    const store = openStore({ onFreed: overwrite, memoryBytes, directory, diskBytes: 256 * 2 ** 20, onProblem });
    t.after(() => store[Symbol.asyncDispose]());
    return store;
  };
}
