import assert from 'node:assert/strict';
import { test } from 'node:test';
import { oneAtATime } from './one-at-a-time.ts';

test('what is asked for meanwhile is done once more, and no more often', async () => {
  const runs: PromiseWithResolvers<void>[] = [];
  const ask = oneAtATime(() => {
    const run = Promise.withResolvers<void>();
    runs.push(run);
    return run.promise;
  });
  const all = [ask(), ask(), ask()];
  assert.equal(runs.length, 1);
  runs[0]?.resolve();
  await new Promise(setImmediate);
  assert.equal(runs.length, 2);
  runs[1]?.resolve();
  await Promise.all(all);
  assert.equal(runs.length, 2);
  void ask();
  assert.equal(runs.length, 3, 'it can be asked for again');
});

test('work that failed can be asked for again', async () => {
  let runs = 0;
  const ask = oneAtATime(async () => {
    runs += 1;
    throw new Error('no');
  });
  await assert.rejects(ask());
  await assert.rejects(ask());
  assert.equal(runs, 2);
});
