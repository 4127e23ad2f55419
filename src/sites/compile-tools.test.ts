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
  const decided = [isLong('a'), isLong('a'), isLong('ab'), isShort('a'), isShort('ab')];
  assert.deepEqual(decided, [false, false, true, true, false]);
  assert.equal(calls, 2);
  for (let i = 0; i < 2; i++) assert.equal(isLong('x'.repeat(257)), true);
  assert.equal(calls, 4);
  const nothing = remember(() => void calls++);
  nothing('');
  nothing('');
  assert.equal(calls, 5);
});

test('what is used goes on being remembered, what is not is forgotten', () => {
  const { remember } = createCompileTools();
  const calls = new Map<string, number>();
  const decide = remember((text) => void calls.set(text, (calls.get(text) ?? 0) + 1));
  decide('once');
  for (let i = 0; i < 100_000; i++) {
    decide(`text ${i}`);
    decide('often');
  }
  decide('once');
  assert.deepEqual([calls.get('often'), calls.get('once')], [1, 2]);
});
