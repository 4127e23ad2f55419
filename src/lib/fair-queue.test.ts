import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FairQueue } from './fair-queue.ts';

function openQueue() {
  const queue = new FairQueue({ atOnce: 2, perKey: 3, inAll: 5 });
  const begun: string[] = [];
  const ends = new Map<string, () => void>();
  const run = (key: string, name: string) =>
    queue.run(key, async () => {
      begun.push(name);
      await new Promise<void>((resolve) => ends.set(name, resolve));
      return name;
    });
  const end = async (name: string) => {
    ends.get(name)?.();
    await new Promise(setImmediate);
  };
  return { run, end, begun };
}

test('keys take turns, however much one of them has to do', async () => {
  const { run, end, begun } = openQueue();
  for (const name of ['a1', 'a2', 'a3', 'a4', 'a5']) void run('a', name);
  void run('b', 'b1');
  assert.deepEqual(begun, ['a1', 'a2']);
  await end('a1');
  await end('a2');
  assert.deepEqual(begun, ['a1', 'a2', 'a3', 'b1']);
  await end('b1');
  await end('a3');
  assert.deepEqual(begun, ['a1', 'a2', 'a3', 'b1', 'a4', 'a5']);
});

test('nothing waits beyond the limit of a key, or of all', async () => {
  const { run, end } = openQueue();
  const first = run('a', 'a1');
  for (const name of ['a2', 'a3', 'a4', 'a5']) void run('a', name);
  assert.equal(run('a', 'a6'), undefined, 'three of a key wait');
  void run('b', 'b1');
  void run('c', 'c1');
  assert.equal(run('d', 'd1'), undefined, 'five of all wait');
  await end('a1');
  assert.equal(await first, 'a1');
  assert.notEqual(run('d', 'd1'), undefined);
});

test('work that fails gives its place to the next', async () => {
  const queue = new FairQueue({ atOnce: 1, perKey: 1, inAll: 1 });
  const failed = queue.run('a', async () => {
    throw new Error('no');
  });
  const next = queue.run('a', async () => 'done');
  await assert.rejects(async () => await failed, /no/);
  assert.equal(await next, 'done');
});
