import assert from 'node:assert/strict';
import { test } from 'node:test';
import { remember } from './remember.ts';

test('a short text is compiled once, a long one each time', () => {
  let calls = 0;
  const isLong = remember((text) => {
    calls++;
    return text.length > 1;
  }, 10);
  const decided = [isLong('a'), isLong('a'), isLong('ab')];
  assert.deepEqual([decided, calls], [[false, false, true], 2]);
  for (let i = 0; i < 2; i++) assert.equal(isLong('x'.repeat(257)), true);
  assert.equal(calls, 4);
  const nothing = remember(() => void calls++, 10);
  nothing('');
  nothing('');
  assert.equal(calls, 5);
});

test('used texts stay remembered, unused ones are forgotten', () => {
  const calls = new Map<string, number>();
  const make = remember((text) => void calls.set(text, (calls.get(text) ?? 0) + 1), 100);
  make('once');
  for (let i = 0; i < 1_000; i++) {
    make(`text ${i}`);
    make('often');
  }
  make('once');
  assert.deepEqual([calls.get('often'), calls.get('once')], [1, 2]);
});
