import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createUnheardStreams } from './unheard.ts';

test('streams between two that were heard of, and up to the last, are counted once', () => {
  for (const [heard, last, expected] of [
    [[1, 3, 5], 5, [0, 0, 0, 0]],
    [[1, 7, 9], 9, [0, 2, 0, 0]],
    [[5], 9, [0, 2]], // Firefox begins with 15, nghttp with 13
    [[], 3, [2]],
    [[], 0, [0]],
    [[1], undefined, [0, 0]],
    [[1, 2 ** 31 - 1], 2 ** 31 - 1, [0, 0, 0]], // a client that leaves numbers out
    [[1, 5], 3, [0, 1, 0]],
  ] as const) {
    const unheard = createUnheardStreams();
    assert.deepEqual([...heard.map((id) => unheard.before(id)), unheard.upTo(last)], expected);
    assert.equal(unheard.upTo(last), 0);
  }
});

test('where as many are open as may be, what is missing was told to come again', () => {
  const unheard = createUnheardStreams();
  assert.equal(unheard.before(1), 0);
  unheard.noteFull();
  assert.equal(unheard.before(21), 0);
  assert.equal(unheard.before(25), 1);
});
