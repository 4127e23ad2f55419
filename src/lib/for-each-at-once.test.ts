import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { forEachAtOnce } from './for-each-at-once.ts';

test('each item is worked on once, in order, and no more than a number of them at a time', async () => {
  for (const atOnce of [1, 3, 10]) {
    const begun: number[] = [];
    let running = 0;
    let most = 0;
    await forEachAtOnce([0, 1, 2, 3, 4, 5], atOnce, async (item) => {
      begun.push(item);
      most = Math.max(most, ++running);
      await setImmediate();
      running -= 1;
    });
    assert.deepEqual(begun, [0, 1, 2, 3, 4, 5]);
    assert.equal(most, Math.min(atOnce, 6));
  }
});

test('a failure is thrown after the work in flight, and nothing is begun after it', async () => {
  const ended: number[] = [];
  const work = async (item: number) => {
    if (item === 0) throw new Error('broken');
    await setImmediate();
    ended.push(item);
  };
  await assert.rejects(forEachAtOnce([0, 1, 2, 3], 2, work), /broken/);
  assert.deepEqual(ended, [1]);
});
