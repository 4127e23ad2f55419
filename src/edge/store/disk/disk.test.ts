import { storeFolder } from '../../../../test/support/edge/store-folder.ts';
import { storeSuite } from '../store.suite.ts';
import { DiskStore } from './disk.ts';

storeSuite('the disk store', (t, { maxBytes }) => {
  const { directory, keep } = storeFolder(t);
  const onProblem = (problem: string, error: unknown) => t.diagnostic(`${problem} ${error}`);
  const store = keep(new DiskStore({ directory, maxBytes, onProblem }));
  return { store, settle: () => store.settle(), usage: () => store.usage() };
});
