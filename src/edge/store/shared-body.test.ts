import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Stored } from '#http/stored.ts';
import { PagedCopies } from '#lib/joined-chunks.ts';
import { createLagBudget } from './client-lag.ts';
import { SharedBody } from './shared-body.ts';

const MIB = 2 ** 20;
const KIB_64 = Buffer.alloc(64 * 1024);
/** Only the body matters here. */
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

function start(budgetBytes = 64 * MIB): SharedBody {
  return new SharedBody(HEAD, undefined, createLagBudget(budgetBytes).open());
}

function push(shared: SharedBody, bytes: number): void {
  for (let sent = 0; sent < bytes; sent += KIB_64.length) shared.push(KIB_64);
}

describe('a body that comes', () => {
  test('a body that arrives is open for readers as long as its first byte is kept, which is for 4 MiB', () => {
    const shared = start();
    push(shared, 4 * MIB);
    assert.equal(shared.isOpen, true);
    push(shared, 1);
    assert.equal(shared.isOpen, false);
  });

  test('a body keeps 4 MiB behind its end for its readers, and nothing without readers', () => {
    const shared = start();
    const reader = shared.open(0);
    push(shared, 4 * MIB);
    assert.equal(reader.read()?.length, KIB_64.length);
    push(shared, 8 * MIB);
    assert.equal(reader.read(), undefined);
    assert.equal(shared.chunkAt(8 * MIB)?.length, KIB_64.length);
    assert.equal(shared.chunkAt(8 * MIB + 1)?.length, KIB_64.length - 1);
    reader.leave();
    push(shared, 1);
    assert.equal(shared.chunkAt(12 * MIB), undefined);
  });

  test('small chunks behind each other in memory are read together, from any position', () => {
    const shared = start();
    const copies = new PagedCopies();
    for (let i = 0; i < 100_000; i++) shared.push(copies.copy(Buffer.from([i % 251])));
    let pieces = 0;
    for (let at = 0; at < 100_000; pieces++) {
      const chunk = shared.chunkAt(at);
      assert.ok(chunk);
      for (const byte of chunk) assert.equal(byte, at++ % 251);
    }
    assert.ok(pieces < 20, `${pieces} pieces`);
    assert.equal(shared.chunkAt(77_777)?.[0], 77_777 % 251);
    assert.equal(shared.chunkAt(100_000), undefined);
  });

  test('a body keeps little when all together have used up the budget', () => {
    const shared = start(MIB);
    shared.open(0);
    push(shared, 2 * MIB);
    assert.equal(shared.isOpen, false);
    assert.notEqual(shared.chunkAt(2 * MIB - 256 * 1024), undefined);
    assert.equal(shared.chunkAt(MIB - 1), undefined); // never more than the budget
  });

  test('a body returns its budget when it is over and has no readers', () => {
    const budget = createLagBudget(4 * MIB);
    const shared = new SharedBody(HEAD, undefined, budget.open());
    const reader = shared.open(0);
    push(shared, 3 * MIB);
    shared.finish(undefined);
    const other = budget.open();
    assert.equal(other.note(2 * MIB), false);
    reader.leave();
    assert.equal(other.note(4 * MIB), true);
  });

  test('a body wakes its readers for new bytes, and once at its end', async () => {
    const shared = start();
    const reader = shared.open(0);
    const news = reader.wait();
    push(shared, 1);
    await news;
    const end = reader.wait();
    shared.finish(undefined);
    shared.break();
    await end;
    assert.deepEqual(shared.over, { kind: 'whole', sizeBytes: KIB_64.length, body: undefined });
    assert.equal(shared.isOpen, false);
    assert.equal(reader.read()?.length, KIB_64.length); // bytes that arrived can still be read
    reader.leave();
    assert.equal(shared.hasReaders, false);
    assert.equal(shared.chunkAt(0), undefined);
  });

  test('a body whose readers set the pace has room when no reader that keeps up is far behind', async () => {
    const shared = start();
    const [slow, lost] = [shared.open(0), shared.open(0)];
    push(shared, 4 * MIB);
    while (slow.read() !== undefined);
    push(shared, 64 * 1024);
    assert.equal(shared.room(), undefined); // the other reader has lost the beginning, and waits for the store
    assert.equal(lost.read(), undefined);
    push(shared, 192 * 1024);
    const room = shared.room();
    assert.ok(room);
    while (slow.read() !== undefined);
    await room;
    push(shared, 192 * 1024);
    const next = shared.room();
    slow.leave();
    await next;
  });
});
