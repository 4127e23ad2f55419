import assert from 'node:assert/strict';
import { test } from 'node:test';
import { moved, toggled, withEntries } from './entries.ts';

test('entries that are pasted are divided by commas and lines, and equal ones are kept once', () => {
  assert.deepEqual(withEntries(['a'], ' b,c\r\na\n\n,'), ['a', 'b', 'c']);
  assert.deepEqual(withEntries(['a'], ' '), ['a']);
});

test('a thing is chosen, and then no longer', () => {
  const chosen = toggled(new Set(['a']), 'b');
  assert.deepEqual([...chosen], ['a', 'b']);
  assert.deepEqual([...toggled(chosen, 'a')], ['b']);
});

test('an object moves by one place, and not beyond the ends', () => {
  assert.deepEqual(moved(['a', 'b', 'c'], 2, -1), ['a', 'c', 'b']);
  assert.deepEqual(moved(['a', 'b', 'c'], 0, 1), ['b', 'a', 'c']);
  assert.deepEqual(moved(['a', 'b'], 0, -1), ['a', 'b']);
  assert.deepEqual(moved(['a', 'b'], 1, 1), ['a', 'b']);
});
