import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startRounds } from './rounds.ts';

const NEVER_MS = 1_000_000;
const turn = () => new Promise((resolve) => setImmediate(resolve));

test('a wake-up during a round starts one more round after it, however many there were; a start does not', async () => {
  const begun: PromiseWithResolvers<void>[] = [];
  await using rounds = startRounds({
    everyMs: NEVER_MS,
    work: () => {
      const round = Promise.withResolvers<void>();
      begun.push(round);
      return round.promise;
    },
    onFailure: (error) => assert.fail(String(error)),
  });
  rounds.wake();
  rounds.wake();
  await turn();
  assert.equal(begun.length, 1);
  begun[0]?.resolve();
  await turn();
  assert.equal(begun.length, 2);
  rounds.start();
  begun[1]?.resolve();
  await turn();
  assert.equal(begun.length, 2);
  rounds.start();
  assert.equal(begun.length, 3);
  begun[2]?.resolve();
});

test('a failure counts as repeated until a round succeeds', async () => {
  const failures: boolean[] = [];
  let isFailing = true;
  await using rounds = startRounds({
    everyMs: NEVER_MS,
    isDelayed: true,
    work: () => (isFailing ? Promise.reject(new Error('no database')) : Promise.resolve()),
    onFailure: (_, isRepeated) => failures.push(isRepeated),
  });
  await turn();
  assert.deepEqual(failures, [], 'the first round is delayed');
  for (const next of [true, true, false, true]) {
    isFailing = next;
    rounds.start();
    await turn();
  }
  assert.deepEqual(failures, [false, true, false]);
});

test('disposed rounds do not start again, and wait for the one that runs', async () => {
  let count = 0;
  const round = Promise.withResolvers<void>();
  const rounds = startRounds({
    everyMs: NEVER_MS,
    work: () => {
      count += 1;
      return round.promise;
    },
    onFailure: (error) => assert.fail(String(error)),
  });
  rounds.wake();
  let isOver = false;
  const disposed = rounds[Symbol.asyncDispose]().then(() => {
    isOver = true;
  });
  await turn();
  assert.equal(isOver, false);
  round.resolve();
  await disposed;
  rounds.wake();
  assert.equal(count, 1);
});

test('a wake-up at any instant about the end of a round begins another one', async () => {
  for (let turns = 0; turns < 12; turns += 1) {
    let begun = 0;
    const first = Promise.withResolvers<void>();
    await using rounds = startRounds({
      everyMs: NEVER_MS,
      work: async () => {
        begun += 1;
        if (begun === 1) await first.promise;
      },
      onFailure: assert.ifError,
    });
    first.resolve();
    for (let n = 0; n < turns; n += 1) await undefined;
    rounds.wake();
    await turn();
    assert.equal(begun, 2, `${turns} turns later`);
  }
});
