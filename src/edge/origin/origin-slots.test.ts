import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createOriginSlots, type OriginSlot, type OriginSlots } from './origin-slots.ts';

const NEVER = new AbortController().signal;
const OPTIONS = { max: 1, maxWaiting: 8, timeoutMs: 10_000, slowMs: 1, monotonic: () => performance.now() };

function ask(slots: OriginSlots, client: string, { signal = NEVER, onTakenBack = () => {} } = {}) {
  return slots.ask({ client, use: 'read', signal, onTakenBack });
}

async function take(slots: OriginSlots, client: string, onTakenBack = () => {}): Promise<OriginSlot> {
  const answer = await ask(slots, client, { onTakenBack });
  assert.equal(answer.kind, 'slot');
  return answer.slot;
}

test('the next free slot goes to the request that waits', async () => {
  const slots = createOriginSlots(OPTIONS);
  const first = await take(slots, 'a');
  const order: string[] = [];
  const waiting = ['b', 'c'].map(async (client) => {
    const slot = await take(slots, client);
    order.push(client);
    slot.free();
  });
  first.free();
  await Promise.all(waiting);
  assert.deepEqual(order, ['b', 'c']);
  await slots.idle();
});

test('a request waits no longer than the limit, and not after its client has left', async () => {
  const slots = createOriginSlots({ ...OPTIONS, timeoutMs: 20 });
  const first = await take(slots, 'a');
  assert.deepEqual(await ask(slots, 'b'), { kind: 'denied', reason: 'originBusy' });
  const leaving = new AbortController();
  const left = ask(slots, 'b', { signal: leaving.signal });
  leaving.abort();
  assert.deepEqual(await left, { kind: 'aborted' });
  assert.deepEqual(await ask(slots, 'b', { signal: leaving.signal }), { kind: 'aborted' });
  const idle = slots.idle();
  first.free();
  await idle;
  (await take(slots, 'c')).free();
});

test('a slow client is asked once to give its slot back, when another begins to wait or while one does', async () => {
  let now = 0;
  const slots = createOriginSlots({ ...OPTIONS, monotonic: () => now });
  let told = 0;
  const { promise, resolve } = Promise.withResolvers<void>();
  const slow = await take(slots, 'a', () => {
    told++;
    resolve();
  });
  slow.pause();
  const waiting = take(slots, 'b');
  assert.equal(told, 0);
  now = 5;
  await promise;
  slow.free();
  (await waiting).free();
  assert.equal(told, 1);
});

test('slow clients give back as many slots at once as are waited for', async () => {
  let now = 0;
  const slots = createOriginSlots({ ...OPTIONS, max: 8, monotonic: () => now });
  const told: string[] = [];
  const hold = async (client: string): Promise<void> => {
    const slot = await take(slots, client, () => {
      told.push(client);
      slot.free();
    });
    slot.pause();
  };
  for (let i = 0; i < 7; i++) await hold(`slow ${i}`);
  const waiting = [take(slots, 'b'), take(slots, 'c')];
  assert.deepEqual(told, []);
  now = 5;
  waiting.push(take(slots, 'd'));
  assert.deepEqual(told, ['slow 0', 'slow 1', 'slow 2']);
  await Promise.all(waiting);
});
