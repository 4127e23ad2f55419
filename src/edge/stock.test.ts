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
  const stock = createStock(100);
  assert.equal(take(stock, 'a', 1, 30) + take(stock, 'a', 2, 100), 50);
  assert.equal(take(stock, 'b', 3, 100), 25);
});

test('one domain has half of a stock, however many clients it has', () => {
  const stock = createStock(100);
  let taken = 0;
  for (let i = 0; i < 100; i++) taken += take(stock, `client ${i}`, 1, 1);
  assert.equal(taken, 50);
  assert.equal(take(stock, 'client 0', 2, 100), 25);
});
