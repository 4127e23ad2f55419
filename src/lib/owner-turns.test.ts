import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as settle } from 'node:timers/promises';
import { OwnerTurns } from './owner-turns.ts';

test('one owner runs one piece at a time, and another owner goes before its next ones', async () => {
  const { turns, begin, begun } = createWorld({ atOnce: 2, maxWaiting: 3 });
  const ends = [begin('a', 1), begin('a', 2), begin('a', 3), begin('b', 1), begin('c', 1)];
  assert.deepEqual(begun, ['a1', 'b1']);
  await ends[0]?.end();
  assert.deepEqual(begun, ['a1', 'b1', 'a2']);
  await ends[1]?.end();
  assert.deepEqual(begun, ['a1', 'b1', 'a2', 'c1'], 'the third of a waits behind c');
  await ends[3]?.end();
  assert.deepEqual(begun, ['a1', 'b1', 'a2', 'c1', 'a3']);
  for (const place of [4, 2]) await ends[place]?.end();
  assert.deepEqual(await turns.run('d', async () => 7), { done: 7 }, 'nobody is left');
});

test('an owner with too many waiting pieces is refused, and others are not', async () => {
  const { begin, turns } = createWorld({ atOnce: 1, maxWaiting: 1 });
  const [first, second] = [begin('a', 1), begin('a', 2)];
  assert.equal(await turns.run('a', async () => 3), undefined);
  const other = turns.run('b', async () => 'b');
  await first.end();
  await second.end();
  assert.deepEqual(await other, { done: 'b' });
});

test('a piece that fails gives its place to the next one', async () => {
  const { begin, turns, begun } = createWorld({ atOnce: 1, maxWaiting: 1 });
  const failing = turns.run('a', async () => {
    await settle();
    throw new Error('broken');
  });
  const next = begin('b', 1);
  await assert.rejects(failing, /broken/);
  assert.deepEqual(begun, ['b1']);
  await next.end();
});

function createWorld(limits: ConstructorParameters<typeof OwnerTurns>[0]) {
  const turns = new OwnerTurns<string>(limits);
  const begun: string[] = [];
  const begin = (owner: string, n: number) => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const running = turns.run(owner, async () => {
      begun.push(owner + n);
      await promise;
    });
    return {
      end: async () => {
        resolve();
        await running;
      },
    };
  };
  return { turns, begun, begin };
}
