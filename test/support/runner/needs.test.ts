/** A test says what it needs, and gets nothing else. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { describe, test } from 'node:test';
import { needs, obtain } from './needs.ts';

/** Runs in a process of its own, without optional programs. */
function needsOfBareRun(args: string): unknown {
  const program = `import { needs } from ${JSON.stringify(import.meta.resolve('./needs.ts'))}; console.log(JSON.stringify(needs(${args})))`;
  const env = { ...process.env, CAUSEWAY_TEST_BARE: 'true', CI: 'true' };
  return JSON.parse(execFileSync(process.execPath, ['--input-type=module', '-e', program], { encoding: 'utf8', env }));
}

test('several needs are joined: each that is missing is named, beside the other options', () => {
  assert.deepEqual(needsOfBareRun("'pebble', 'curl', { timeout: 5 }"), {
    timeout: 5,
    tags: ['needs:pebble', 'needs:curl'],
    skip: 'needs the program pebble; needs the program curl',
  });
});

test('a test cannot obtain what it has not declared, whether the machine has it or not', () => {
  assert.throws(() => obtain('ipv6'), /declare it with needs\('ipv6'\)$/);
  assert.throws(() => obtain('curl'), /declare it with needs\('curl'\)$/);
});

describe('needs of a suite', needs('ipv6'), () => {
  test('the tests of a suite and their subtests obtain its needs, and nothing more', async (t) => {
    assert.equal(obtain('ipv6'), '::1');
    await t.test('a subtest obtains the needs of its suite', () => assert.equal(obtain('ipv6'), '::1'));
    assert.throws(() => obtain('openssl'), /declare it with needs\('openssl'\)$/);
  });
});
