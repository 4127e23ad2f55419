/** A cache directory on a full disk: a file system of 4 MB in a name space of its own. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { needs, obtain } from '../support/runner/needs.ts';
import { temporaryFolder } from '../support/temporary.ts';

const PROGRAM = join(import.meta.dirname, '../support/edge/store-full.ts');

test(
  'a full disk refuses with a reason, serves what it holds, and takes more when there is room',
  needs('mounts'),
  async (t) => {
    const script = `mount -t tmpfs -o size=4m tmpfs "$1" && exec "$2" "$3" "$1/cache"`;
    const args = ['-rm', 'sh', '-c', script, 'sh', temporaryFolder(t), process.execPath, PROGRAM];
    const { stdout } = await promisify(execFile)(obtain('mounts'), args);
    const { problems, refusals, found } = JSON.parse(stdout);
    assert.deepEqual(problems, ['storeFull']);
    assert.ok(refusals.includes('storeFull'), stdout);
    assert.ok(found > 5 && found < 40, stdout);
  },
);
