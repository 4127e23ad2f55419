import assert from 'node:assert/strict';
import { test } from 'node:test';
import { shareOut, takeTurns } from './sms-turns.ts';

test('what there is room for is shared evenly; what somebody leaves over goes to the others', () => {
  for (const [limit, waiting, given] of [
    [10, [100], [10]],
    [10, [100, 100], [5, 5]],
    [10, [1, 100], [1, 9]],
    [10, [100, 1, 0, 100], [5, 1, 0, 4]],
    [2, [5, 5, 5], [1, 1, 0]],
    [10, [2, 3], [2, 3]],
    [10, [], []],
  ] as const)
    assert.deepEqual(shareOut(limit, waiting), given, `${limit} of ${waiting}`);
});

test('accounts take turns from the one after the last, each in its own order', () => {
  const parts = ['1a', '1b', '1c', '2a', '3a', '3b'].map((name) => ({ accountId: Number(name[0]), name }));
  const names = (after: number) => takeTurns(parts, after).map(({ name }) => name);
  assert.deepEqual(names(0), ['1a', '2a', '3a', '1b', '3b', '1c']);
  assert.deepEqual(names(1), ['2a', '3a', '1a', '3b', '1b', '1c']);
  assert.deepEqual(names(3), ['1a', '2a', '3a', '1b', '3b', '1c']);
  assert.deepEqual(takeTurns([], 5), []);
});
