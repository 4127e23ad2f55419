import { createMemoryStore } from './memory.ts';
import { storeSuite } from './store.suite.ts';

storeSuite('the memory store', createMemoryStore);
