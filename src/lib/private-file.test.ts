import assert from 'node:assert/strict';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { Worker } from 'node:worker_threads';
import { temporaryFolder } from '../../test/support/temporary.ts';

/** Makes files 0, 1, … as soon as all threads have come to the same one, and posts what it reads of each. */
const MAKER = `
  const { workerData: { module, folder, files, threads, shared, own }, parentPort } = require('node:worker_threads');
  const { readFileSync } = require('node:fs');
  import(module).then(({ makePrivateFile }) => {
    const arrived = new Int32Array(shared);
    const read = [];
    for (let n = 0; n < files; n++) {
      Atomics.add(arrived, 0, 1);
      while (Atomics.load(arrived, 0) < (n + 1) * threads);
      makePrivateFile(folder + '/' + n, own);
      read.push(readFileSync(folder + '/' + n, 'utf8'));
    }
    parentPort.postMessage(read);
  });
`;

test('callers that make a file at once all find the text of one of them, whole and private', async (t) => {
  const folder = temporaryFolder(t);
  const [threads, files] = [3, 20];
  const shared = new SharedArrayBuffer(4);
  const module = new URL('./private-file.ts', import.meta.url).href;
  const read = await Promise.all(
    Array.from({ length: threads }, (_, n) => {
      const own = `${n}`.repeat(40);
      const worker = new Worker(MAKER, { eval: true, workerData: { module, folder, files, threads, shared, own } });
      return new Promise<readonly string[]>((resolve, reject) => worker.on('message', resolve).on('error', reject));
    }),
  );
  for (let n = 0; n < files; n++) {
    const kept = readFileSync(join(folder, `${n}`), 'utf8');
    assert.match(kept, /^(0{40}|1{40}|2{40})$/);
    assert.deepEqual(new Set(read.map((texts) => texts[n])), new Set([kept]));
    assert.equal(statSync(join(folder, `${n}`)).mode & 0o777, 0o600);
  }
  assert.equal(readdirSync(folder).length, files);
});
