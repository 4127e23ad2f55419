/** Fills the disk tier in a directory on a small file system, `store-full.ts <directory>`; what it sees as a line of JSON. */
import { setTimeout } from 'node:timers/promises';
import { DiskStore } from '../../../src/edge/store/disk/disk.ts';
import { putText, textOf } from '../../../src/edge/store/store-samples.suite.ts';

const [, , directory = ''] = process.argv;
const problems = new Set<string>();
const refusals = new Set<string | undefined>();
await using store = new DiskStore({ directory, maxBytes: 2 ** 30, onProblem: (problem) => problems.add(problem) });
for (let i = 0; i < 300; i++) {
  try {
    putText(store, `k${i}`, `${i}`.padEnd(100_000, 'x'));
  } catch {
    // not taken
  }
  refusals.add(store.refuses(undefined));
  if (i % 10 === 0) await store.settle(); // a slow disk is another problem
}
await store.settle();
refusals.add(store.refuses(undefined));
await setTimeout(1_500); // the pause after a failure
await store.settle();
let found = 0;
for (let i = 0; i < 300; i++) {
  const text = await textOf((await store.find(`k${i}`))?.variants[0]);
  if (text === undefined) continue;
  if (text !== `${i}`.padEnd(100_000, 'x')) throw new Error(`k${i} is not what was put`);
  found += 1;
}
console.log(JSON.stringify({ problems: [...problems], refusals: [...refusals].map(String), found }));
