import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createSlots } from './slots.ts';

const NEVER = new AbortController().signal;

test('who comes when all are taken has the next that is freed, in order', async () => {
  const slots = createSlots({ max: 1, maxWaiting: 2, timeoutMs: 10_000 });
  const free = await slots.take(NEVER);
  const order: string[] = [];
  const waiting = ['a', 'b'].map((name) =>
    slots.take(NEVER).then((next) => {
      order.push(name);
      next?.();
    }),
  );
  assert.equal(await slots.take(NEVER), undefined); // too many wait
  free?.();
  await Promise.all(waiting);
  assert.deepEqual(order, ['a', 'b']);
  await slots.idle();
});

test('nobody waits longer than the limit, or after having left', async () => {
  const slots = createSlots({ max: 1, maxWaiting: 10, timeoutMs: 20 });
  const free = await slots.take(NEVER);
  assert.equal(await slots.take(NEVER), undefined);
  const leaving = new AbortController();
  const left = slots.take(leaving.signal);
  leaving.abort();
  assert.equal(await left, undefined);
  assert.equal(await slots.take(leaving.signal), undefined);
  const idle = slots.idle();
  free?.();
  await idle;
  assert.notEqual(await slots.take(NEVER), undefined);
});
