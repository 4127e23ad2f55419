import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SharedLookUps } from './shared-look-ups.ts';

/** Look-ups whose queries are answered by the test. */
function start() {
  const asked: (readonly string[])[] = [];
  const answers: PromiseWithResolvers<ReadonlyMap<string, number>>[] = [];
  const arrivals: (() => void)[] = [];
  const lookUps = new SharedLookUps((take: () => readonly string[]) => {
    asked.push(take());
    const answer = Promise.withResolvers<ReadonlyMap<string, number>>();
    answers.push(answer);
    arrivals.shift()?.();
    return answer.promise;
  });
  const arrival = () => new Promise<void>((resolve) => arrivals.push(resolve));
  return { lookUps, asked, answers, arrival };
}

test('questions asked together, or while a look-up is in flight, share one; each gets its own answer', async () => {
  const { lookUps, asked, answers, arrival } = start();
  const first = arrival();
  const early = [lookUps.get('a'), lookUps.get('b'), lookUps.get('a')];
  await first;
  const second = arrival();
  const late = [lookUps.get('a'), lookUps.get('c')];
  assert.deepEqual(asked, [['a', 'b']]);
  answers[0]?.resolve(new Map([['a', 1]]));
  assert.deepEqual(await Promise.all(early), [1, undefined, 1]);
  await second;
  // A key found before is queried again, as its value may have changed.
  answers[1]?.resolve(new Map([['c', 3]]));
  assert.deepEqual(await Promise.all(late), [undefined, 3]);
  assert.deepEqual(asked, [
    ['a', 'b'],
    ['a', 'c'],
  ]);
});

test('a look-up that fails does so for its own callers, and not for the next', async () => {
  const { lookUps, answers, arrival } = start();
  const first = arrival();
  const failed = Promise.allSettled([lookUps.get('a'), lookUps.get('b')]);
  await first;
  const second = arrival();
  const next = lookUps.get('a');
  answers[0]?.reject(new Error('away'));
  assert.deepEqual(
    (await failed).map(({ status }) => status),
    ['rejected', 'rejected'],
  );
  await second;
  answers[1]?.resolve(new Map([['a', 1]]));
  assert.equal(await next, 1);
});

test('a look-up has a bound, and questions beyond it wait for the next', async () => {
  const sizes: number[] = [];
  const lookUps = new SharedLookUps(async (take: () => readonly number[]) => {
    const keys = take();
    sizes.push(keys.length);
    return new Map(keys.map((key) => [key, key]));
  });
  const keys = Array.from({ length: 1200 }, (_, key) => key);
  assert.deepEqual(await Promise.all(keys.map((key) => lookUps.get(key))), keys);
  assert.deepEqual(sizes, [500, 500, 200]);
});

test('a caller that arrives before the look-up starts shares it; one that never starts fails for its callers', async () => {
  const turn = Promise.withResolvers<void>();
  let isAway = false;
  const lookUps = new SharedLookUps(async (take: () => readonly string[]) => {
    await turn.promise;
    if (isAway) throw new Error('away');
    return new Map(take().map((key) => [key, key.length]));
  });
  const early = lookUps.get('a');
  await new Promise((resolve) => setImmediate(resolve));
  const later = lookUps.get('bb');
  turn.resolve();
  assert.deepEqual(await Promise.all([early, later]), [1, 2]);
  isAway = true;
  await assert.rejects(lookUps.get('a'), /away/);
  isAway = false;
  assert.equal(await lookUps.get('a'), 1);
});
