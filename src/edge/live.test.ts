import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Stored } from '#http/stored.ts';
import { LiveBody } from './live.ts';
import { createLagBudget } from './respond/lag.ts';

const MIB = 2 ** 20;
const KIB_64 = Buffer.alloc(64 * 1024);
/** The body is all that counts here. */
const HEAD: Stored = {
  status: 200,
  reason: 'OK',
  headers: [],
  vary: [],
  varyKey: '',
  varyHeaders: [],
  etag: undefined,
  range: undefined,
  requestAt: 0,
  responseAt: 0,
  dateAt: 0,
  lastModifiedAt: undefined,
  initialAgeMs: 0,
  lifetimeMs: 1,
  staleWhileRevalidateMs: 0,
  staleIfErrorMs: undefined,
  mustValidate: false,
  forbidsStale: false,
  isInvalid: false,
  noTransform: false,
};

function start(budgetBytes = 64 * MIB): LiveBody {
  return new LiveBody(HEAD, undefined, createLagBudget(budgetBytes).open());
}

function push(live: LiveBody, bytes: number): void {
  for (let sent = 0; sent < bytes; sent += KIB_64.length) live.push(KIB_64);
}

describe('a body that comes', () => {
  test('is open for readers as long as its first byte is kept, which is for 4 MiB', () => {
    const live = start();
    push(live, 4 * MIB);
    assert.equal(live.isOpen, true);
    push(live, 1);
    assert.equal(live.isOpen, false);
  });

  test('keeps 4 MiB behind its end for those who read, and nothing for nobody', () => {
    const live = start();
    const reader = live.open(0);
    push(live, 4 * MIB);
    assert.equal(reader.read()?.length, KIB_64.length);
    push(live, 8 * MIB);
    assert.equal(reader.read(), undefined);
    assert.equal(live.chunkAt(8 * MIB)?.length, KIB_64.length);
    assert.equal(live.chunkAt(8 * MIB + 1)?.length, KIB_64.length - 1);
    reader.leave();
    push(live, 1);
    assert.equal(live.chunkAt(12 * MIB), undefined);
  });

  test('keeps little when all together have used up the budget', () => {
    const live = start(MIB);
    live.open(0);
    push(live, 2 * MIB);
    assert.equal(live.isOpen, false);
    assert.notEqual(live.chunkAt(2 * MIB - 256 * 1024), undefined);
    assert.equal(live.chunkAt(MIB - 1), undefined); // never more than the budget
  });

  test('gives the budget back when it is over and nobody reads', () => {
    const budget = createLagBudget(4 * MIB);
    const live = new LiveBody(HEAD, undefined, budget.open());
    const reader = live.open(0);
    push(live, 3 * MIB);
    live.finish(undefined);
    const other = budget.open();
    assert.equal(other.note(2 * MIB), false);
    reader.leave();
    assert.equal(other.note(4 * MIB), true);
  });

  test('wakes readers with news, and at its end, which is told once', async () => {
    const live = start();
    const reader = live.open(0);
    const news = reader.wait();
    push(live, 1);
    await news;
    const end = reader.wait();
    live.finish(undefined);
    live.break();
    await end;
    assert.deepEqual(live.over, { kind: 'whole', sizeBytes: KIB_64.length, body: undefined });
    assert.equal(live.isOpen, false);
    assert.equal(reader.read()?.length, KIB_64.length); // what came is still there to be read
    reader.leave();
    assert.equal(live.hasReaders, false);
    assert.equal(live.chunkAt(0), undefined);
  });

  test('where readers set the pace, there is room when none of those who keep up is far behind', async () => {
    const live = start();
    const [slow, lost] = [live.open(0), live.open(0)];
    push(live, 4 * MIB);
    while (slow.read() !== undefined);
    push(live, 64 * 1024);
    assert.equal(live.room(), undefined); // the other one has lost the beginning, and waits for the store
    assert.equal(lost.read(), undefined);
    push(live, 192 * 1024);
    const room = live.room();
    assert.ok(room);
    while (slow.read() !== undefined);
    await room;
    push(live, 192 * 1024);
    const next = live.room();
    slow.leave();
    await next;
  });
});
