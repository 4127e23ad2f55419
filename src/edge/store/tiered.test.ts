import { overwrite } from '../../../test/support/edge/overwrite.ts';
import { storeFolder } from '../../../test/support/edge/store-folder.ts';
import { DiskStore } from './disk/disk.ts';
import { MemoryStore } from './memory.ts';
import { storeSuite } from './store.suite.ts';
import { TieredStore } from './tiered.ts';

for (const [name, memoryShare] of [
  ['the tiered store', 1],
  ['the tiered store without memory', 0],
] as const) {
  storeSuite(name, (t, { maxBytes }) => {
    const { directory, keep } = storeFolder(t);
    const onProblem = (problem: string, error: unknown) => t.diagnostic(`${problem} ${error}`);
    const disk = new DiskStore({ directory, maxBytes, onProblem });
    const memory = new MemoryStore({ maxBytes: maxBytes * memoryShare, onFreed: overwrite });
    const store = keep(new TieredStore({ memory, disk }));
    return { store, settle: () => disk.settle(), usage: () => disk.usage() };
  });
}
