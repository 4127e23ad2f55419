import assert from 'node:assert/strict';
import { test } from 'node:test';
import { takeTurns } from './turns.ts';

test('accounts take turns from the one after the last, each in its own order', () => {
  const parts = ['1a', '1b', '1c', '2a', '3a', '3b'].map((name) => ({ accountId: Number(name[0]), name }));
  const names = (after: number) => takeTurns(parts, after).map(({ name }) => name);
  assert.deepEqual(names(0), ['1a', '2a', '3a', '1b', '3b', '1c']);
  assert.deepEqual(names(1), ['2a', '3a', '1a', '3b', '1b', '1c']);
  assert.deepEqual(names(3), ['1a', '2a', '3a', '1b', '3b', '1c']);
  assert.deepEqual(takeTurns([], 5), []);
});
