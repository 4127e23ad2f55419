import { temporaryFolder } from '../../../../test/support/temporary.ts';
import { storeSuite } from '../store.suite.ts';
import { DiskStore } from './disk.ts';

storeSuite('the disk store', (t, { maxBytes }) => {
  const folder = temporaryFolder(t);
  const store = new DiskStore({
    directory: folder,
    maxBytes,
    onProblem: (problem, error) => t.diagnostic(`${problem} ${error}`),
  });
  t.after(() => store[Symbol.asyncDispose]());
  return { store, settle: () => store.settle(), usage: () => store.usage() };
});
