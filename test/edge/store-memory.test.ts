/** The memory tier in a process of its own; `test/soak/store.soak.ts` has the long one. */
import { join } from 'node:path';
import { test } from 'node:test';
import { runProgram } from '../support/process/run-program.ts';

const PROGRAM = join(import.meta.dirname, '../support/edge/store-memory.ts');

test('many more objects than fit pass through the memory tier within the limit and 150 MiB', async (t) => {
  // As workers are started: roles/supervisor/role-process.ts
  t.diagnostic(await runProgram(['--max-semi-space-size=8', PROGRAM, '200000', '128']));
});
