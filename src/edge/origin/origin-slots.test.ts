import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createOriginSlots, type OriginSlot, type OriginSlots } from './origin-slots.ts';

const NEVER = new AbortController().signal;
const OPTIONS = { max: 1, maxWaiting: 8, timeoutMs: 10_000, slowMs: 1, monotonic: () => performance.now() };

function ask(places: OriginSlots, client: string, { signal = NEVER, onTakenBack = () => {} } = {}) {
  return places.ask({ client, use: 'read', signal, onTakenBack });
}

async function take(places: OriginSlots, client: string, onTakenBack = () => {}): Promise<OriginSlot> {
  const answer = await ask(places, client, { onTakenBack });
  assert.equal(answer.kind, 'place');
  return answer.place;
}

test('who waits has the next place that is freed', async () => {
  const places = createOriginSlots(OPTIONS);
  const first = await take(places, 'a');
  const order: string[] = [];
  const waiting = ['b', 'c'].map(async (client) => {
    const place = await take(places, client);
    order.push(client);
    place.free();
  });
  first.free();
  await Promise.all(waiting);
  assert.deepEqual(order, ['b', 'c']);
  await places.idle();
});

test('nobody waits longer than the limit, or after having left', async () => {
  const places = createOriginSlots({ ...OPTIONS, timeoutMs: 20 });
  const first = await take(places, 'a');
  assert.deepEqual(await ask(places, 'b'), { kind: 'denied', reason: 'originBusy' });
  const leaving = new AbortController();
  const left = ask(places, 'b', { signal: leaving.signal });
  leaving.abort();
  assert.deepEqual(await left, { kind: 'aborted' });
  assert.deepEqual(await ask(places, 'b', { signal: leaving.signal }), { kind: 'aborted' });
  const idle = places.idle();
  first.free();
  await idle;
  (await take(places, 'c')).free();
});

test('a slow client is told once to give its place back, when another begins to wait or while one does', async () => {
  let now = 0;
  const places = createOriginSlots({ ...OPTIONS, monotonic: () => now });
  let told = 0;
  const { promise, resolve } = Promise.withResolvers<void>();
  const slow = await take(places, 'a', () => {
    told++;
    resolve();
  });
  slow.pause();
  const waiting = take(places, 'b');
  assert.equal(told, 0);
  now = 5;
  await promise;
  slow.free();
  (await waiting).free();
  assert.equal(told, 1);
});

test('as many slow clients give their places back at once as others wait for', async () => {
  let now = 0;
  const places = createOriginSlots({ ...OPTIONS, max: 8, monotonic: () => now });
  const told: string[] = [];
  const hold = async (client: string): Promise<void> => {
    const place = await take(places, client, () => {
      told.push(client);
      place.free();
    });
    place.pause();
  };
  for (let i = 0; i < 7; i++) await hold(`slow ${i}`);
  const waiting = [take(places, 'b'), take(places, 'c')];
  assert.deepEqual(told, []);
  now = 5;
  waiting.push(take(places, 'd'));
  assert.deepEqual(told, ['slow 0', 'slow 1', 'slow 2']);
  await Promise.all(waiting);
});
