import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createStock } from './stock.ts';

function take(stock: ReturnType<typeof createStock>, client: string, domainId: number, tries: number): number {
  let taken = 0;
  for (let i = 0; i < tries; i++) {
    if (!stock.mayTake({ client, domainId }, 1)) break;
    stock.add({ client, domainId }, 1);
    taken++;
  }
  return taken;
}

test('one client has half of a stock, whatever it asks of how many domains', () => {
  const stock = createStock(96);
  let taken = 0;
  for (let domainId = 0; domainId < 10; domainId++) taken += take(stock, 'a', domainId, 100);
  assert.equal(taken, 48);
  assert.equal(take(stock, 'b', 100, 100), 12);
});

test('one domain has half of a stock, however many clients it has', () => {
  const stock = createStock(100);
  let taken = 0;
  for (let i = 0; i < 100; i++) taken += take(stock, `client ${i}`, 1, 1);
  assert.equal(taken, 50);
  assert.ok(take(stock, 'client 0', 2, 100) > 0);
});

test("one client has half of a domain's share alone, a third beside another, and so on", () => {
  for (const [clients, share] of [
    [1, 128],
    [2, 85],
    [3, 64],
    [7, 32],
  ] as const) {
    const stock = createStock(512); // a domain alone has half of it
    const taken = Array.from({ length: clients }, () => 0);
    for (let round = 0; round < 512; round++)
      for (let i = 0; i < clients; i++) taken[i] = (taken[i] ?? 0) + take(stock, `client ${i}`, 1, 1);
    for (const each of taken) assert.ok(Math.abs(each - share) <= 1, `${clients}: ${taken}`);
    assert.ok(take(stock, 'new', 1, 512) >= share / 2 - 1);
  }
});

test('clients with their full share leave room for a new client of the same domain', () => {
  const MB = 1_000_000;
  const stock = createStock(128 * MB);
  for (let i = 0; i < 13; i++) {
    const owner = { client: `client ${i}`, domainId: 1 };
    for (let piece = 0; piece < 20 && stock.mayTake(owner, MB / 4); piece++) stock.add(owner, MB / 4);
  }
  const owner = { client: 'new', domainId: 1 };
  assert.ok(stock.mayTake(owner, 2 * MB));
  stock.add(owner, 2 * MB);
  assert.ok(!stock.mayTake({ client: 'client 0', domainId: 1 }, 2 * MB));
});

test('a released part can be taken again, and a stock of one has a holder', () => {
  const stock = createStock(1);
  const owner = { client: 'a', domainId: 1 };
  assert.equal(take(stock, 'a', 1, 3), 1);
  assert.equal(stock.mayTake({ client: 'b', domainId: 2 }, 1), false);
  stock.add(owner, -1);
  assert.deepEqual([stock.taken, stock.mayTake(owner, 1)], [0, true]);
});
