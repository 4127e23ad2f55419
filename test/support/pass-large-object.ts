/** One large object through an edge, see `large-object.ts`: what must hold for any size. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { runProgram } from './run-program.ts';
import { temporaryFolder } from './temporary.ts';

const MIB = 2 ** 20;
const MAX_GROWTH_MIB = 64;

export async function passLargeObject(t: TestContext, mib: number): Promise<void> {
  const program = join(import.meta.dirname, 'large-object.ts');
  const output = await runProgram(['--max-semi-space-size=8', program, String(mib), temporaryFolder(t)]);
  t.diagnostic(output.trim());
  const { passes, problems } = JSON.parse(output);
  for (const { bytes, isRight, isWhole, growthMib } of passes) {
    assert.deepEqual([bytes, isRight, isWhole], [mib * MIB, true, true]);
    assert.ok(growthMib < MAX_GROWTH_MIB, `${growthMib} MiB`);
  }
  // On a disk that does not keep up it is given up, and counted.
  assert.equal(passes[1].cache, problems.length === 0 ? 'HIT' : 'MISS');
  assert.ok(
    problems.every((problem: string) => problem === 'storeBusy'),
    output,
  );
}
