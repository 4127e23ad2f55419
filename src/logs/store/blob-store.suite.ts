/** What every blob store holds to. */
import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import { type BlobKey, BlobMissing, type BlobStore, blobKey } from './blob-store.ts';

export function blobStoreSuite(name: string, open: (t: TestContext) => Promise<BlobStore>): void {
  describe(`a blob store: ${name}`, () => {
    test('a blob store returns what it was given, whole and in part', async (t) => {
      const store = await open(t);
      const bytes = Buffer.from('0123456789');
      await store.put(key('7/2026-01-02/03.edge.a.1.log.gz'), bytes);
      const read = (start: number, end: number) => text(store, key('7/2026-01-02/03.edge.a.1.log.gz'), start, end);
      assert.equal(await read(0, 10), '0123456789');
      assert.equal(await read(3, 5), '34');
      assert.equal(await read(9, 10), '9');
      assert.equal(await read(4, 4), '');
    });

    test('a blob store accepts the same key again', async (t) => {
      const store = await open(t);
      await store.put(key('1/a'), Buffer.from('one'));
      await store.put(key('1/a'), Buffer.from('one'));
      assert.equal(await text(store, key('1/a'), 0, 3), 'one');
    });

    test('a blob store holds a mebibyte of every byte', async (t) => {
      const store = await open(t);
      const bytes = Buffer.alloc(1 << 20, Buffer.from(Array.from({ length: 256 }, (_, byte) => byte)));
      await store.put(key('big'), bytes);
      const read = await collect(store, key('big'), 0, bytes.length);
      assert.ok(read.equals(bytes));
    });

    test('a blob store says what is missing, and a deleted blob is', async (t) => {
      const store = await open(t);
      await assert.rejects(text(store, key('no/such'), 0, 1), BlobMissing);
      await store.put(key('2/b/c'), Buffer.from('x'));
      await store.put(key('2/b/d'), Buffer.from('y'));
      await store.delete(key('2/b/c'));
      await store.delete(key('2/b/c'));
      await assert.rejects(text(store, key('2/b/c'), 0, 1), BlobMissing);
      assert.equal(await text(store, key('2/b/d'), 0, 1), 'y');
    });
  });
}

export function key(name: string): BlobKey {
  const found = blobKey(name);
  assert.ok(found !== undefined, name);
  return found;
}

async function text(store: BlobStore, at: BlobKey, start: number, end: number): Promise<string> {
  return (await collect(store, at, start, end)).toString();
}

async function collect(store: BlobStore, at: BlobKey, start: number, end: number): Promise<Buffer> {
  const parts: Buffer[] = [];
  for await (const part of await store.read(at, { start, end })) parts.push(Buffer.from(part));
  return Buffer.concat(parts);
}
