/** A cache directory of a test's own. The stores on it are closed before it goes: an open one would make it anew. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';

export interface StoreFolder {
  readonly directory: string;
  /** Closes it when the test ends. */
  keep<T extends AsyncDisposable>(store: T): T;
}

export function storeFolder(t: Pick<TestContext, 'after'>): StoreFolder {
  const directory = mkdtempSync(join(tmpdir(), 'causeway-'));
  const stores: AsyncDisposable[] = [];
  t.after(async () => {
    for (const store of stores) await store[Symbol.asyncDispose]();
    rmSync(directory, { recursive: true, force: true });
  });
  return {
    directory,
    keep: (store) => {
      stores.push(store);
      return store;
    },
  };
}
