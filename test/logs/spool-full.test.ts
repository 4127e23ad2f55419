/** An access log on a disk that is full: nothing waits, lines are lost and counted, and every request is in the sums. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { promisify } from 'node:util';
import { needs, obtain } from '../support/runner/needs.ts';
import { temporaryFolder } from '../support/temporary.ts';

/** Runs a program on a file system of 2 MiB. */
async function runProgram(t: TestContext, name: string): Promise<string> {
  const program = join(import.meta.dirname, '../support/logs', name);
  const script = 'mount -t tmpfs -o size=2m tmpfs "$0" && exec "$1" "$2" "$0"';
  const args = ['-rm', 'sh', '-c', script, temporaryFolder(t), process.execPath, program];
  const { stdout } = await promisify(execFile)(obtain('mounts'), args, { timeout: 180_000 });
  return stdout;
}

test('lines that a full disk refuses are counted, and their requests too', needs('mounts'), async (t) => {
  const stdout = await runProgram(t, 'spool-full.ts');
  const seen: Record<string, number> = JSON.parse(stdout);
  assert.ok((seen['droppedWhileFull'] ?? 0) > 500, stdout);
  assert.equal(seen['dropped'], seen['droppedWhileFull'], stdout);
  assert.equal(seen['lines'], 2_100 - (seen['dropped'] ?? 0), stdout);
  assert.equal(seen['wholeLines'], seen['lines'], stdout);
  assert.equal(seen['counted'], 2_100, stdout);
});

test(
  'a report that a full disk delays is sent once there is room: each request once, and each line that was not dropped',
  needs('mounts'),
  async (t) => {
    const stdout = await runProgram(t, 'ship-full.ts');
    const { requests, dropped, told, whileFull } = JSON.parse(stdout);
    assert.ok(whileFull.dropped > 0 && whileFull.told < requests, stdout);
    assert.deepEqual(told, { requests, lines: requests - dropped }, stdout);
  },
);
