import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createCompileTools, PLAIN_TOOLS } from './compile-tools.ts';

test('patterns that are written alike are one', () => {
  const { compilePattern } = createCompileTools();
  assert.equal(compilePattern('^/a'), compilePattern('^/a'));
  assert.notEqual(compilePattern('^/a'), compilePattern('^/b'));
  assert.notEqual(PLAIN_TOOLS.compilePattern('^/a'), PLAIN_TOOLS.compilePattern('^/a'));
});

test('each text is decided once by each decider, long ones each time', () => {
  const { remember } = createCompileTools();
  let calls = 0;
  const isLong = remember((text) => {
    calls++;
    return text.length > 1;
  });
  const isShort = remember((text) => text.length < 2);
  assert.deepEqual(
    [isLong('a'), isLong('a'), isLong('ab'), isShort('a'), isShort('ab')],
    [false, false, true, true, false],
  );
  assert.equal(calls, 2);
  for (let i = 0; i < 2; i++) assert.equal(isLong('x'.repeat(513)), true);
  assert.equal(calls, 4);
  const nothing = remember(() => void calls++);
  nothing('');
  nothing('');
  assert.equal(calls, 5);
});
