import { overwrite } from '../../../test/support/edge/overwrite.ts';
import { MemoryStore } from './memory.ts';
import { storeSuite } from './store.suite.ts';

storeSuite('the memory store', (_t, { maxBytes }) => {
  const store = new MemoryStore({ maxBytes, onFreed: overwrite });
  return { store, settle: async () => undefined, usage: () => store.usage() };
});
