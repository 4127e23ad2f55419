/**
 * The machine of somebody who has installed nothing but Node, git and npm, as far as another PATH makes this one that machine. Only
 * where no minimal Debian can be made, which is such a machine and runs the same tests.
 */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { needs } from '../support/runner/needs.ts';

if (needs('debootstrap').skip !== false)
  test('tests that need optional programs are skipped without them, and everything else passes', async (t) => {
    const runner = join(import.meta.dirname, '..', 'run.ts');
    const env = { ...process.env, NODE_TEST_CONTEXT: undefined };
    const child = spawn(process.execPath, [runner, '--bare'], { env, stdio: ['ignore', 'pipe', 'inherit'] });
    t.after(() => child.kill());
    const [said, [code]] = await Promise.all([text(child.stdout), once(child, 'exit')]);
    const [, passed, skipped] = /\n(\d+) passed, 0 failed, (\d+) skipped\n$/.exec(said) ?? [];
    assert.ok(code === 0 && Number(passed) > 300 && Number(skipped) > 100, said);
    t.diagnostic(`${passed} passed, ${skipped} skipped`);
  });
