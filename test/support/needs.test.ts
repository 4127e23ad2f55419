/** A test says what it needs, and gets nothing else. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { describe, test } from 'node:test';
import { needs, obtain } from './needs.ts';

/** In a process of its own, where nothing is there. */
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

test('what a test has not declared it does not get, whether it is there or not', () => {
  assert.throws(() => obtain('ipv6'), /declare it with needs\('ipv6'\)$/);
  assert.throws(() => obtain('curl'), /declare it with needs\('curl'\)$/);
});

describe('what a suite has declared', needs('ipv6'), () => {
  test('its tests and their subtests get, and nothing more', async (t) => {
    assert.equal(obtain('ipv6'), '::1');
    await t.test('in a subtest', () => assert.equal(obtain('ipv6'), '::1'));
    assert.throws(() => obtain('openssl'), /declare it with needs\('openssl'\)$/);
  });
});
