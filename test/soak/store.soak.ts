/** The long tests of the cache store. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { passLargeObject } from '../support/edge/pass-large-object.ts';
import { crashRound } from '../support/edge/store-crash.ts';
import { runProgram } from '../support/process/run-program.ts';
import { temporaryFolder } from '../support/temporary.ts';

const PROGRAM = join(import.meta.dirname, '..', 'support', 'edge', 'store-memory.ts');
const ROUNDS = 20;

test('a million keys of 1 KiB pass through 256 MiB of memory within 150 MiB more', async (t) => {
  t.diagnostic(await runProgram(['--max-semi-space-size=8', PROGRAM]));
});

test(`workers killed in the middle of fills, ${ROUNDS} times, leave no truncated or mixed body`, async (t) => {
  const directory = temporaryFolder(t);
  for (let round = 1; round <= ROUNDS; round++) {
    const { objects } = await crashRound(directory, round);
    assert.ok(objects > 10, `${objects} objects`);
    t.diagnostic(`round ${round}: ${objects} objects`);
  }
});

test('an object of 2 GiB passes and is stored within 64 MiB of memory', (t) => passLargeObject(t, 2048));
