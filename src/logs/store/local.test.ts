import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { blobStoreSuite, key } from './blob-store.suite.ts';
import { blobKey } from './blob-store.ts';
import { localBlobStore } from './local.ts';

const folder = mkdtempSync(join(tmpdir(), 'causeway-blobs-'));
after(() => rmSync(folder, { recursive: true }));
let opened = 0;

blobStoreSuite('local directory', async () => localBlobStore(join(folder, String(++opened))));

test('a deleted blob leaves no empty directory, and no other user may read one', async () => {
  const root = join(folder, 'own');
  const store = localBlobStore(root);
  await store.put(key('7/2026-01-02/a'), Buffer.from('x'));
  assert.equal(statSync(join(root, '7/2026-01-02/a')).mode & 0o777, 0o600);
  assert.equal(statSync(join(root, '7')).mode & 0o777, 0o700);
  await store.delete(key('7/2026-01-02/a'));
  assert.deepEqual(readdirSync(root), []);
});

test('no key leaves the directory', () => {
  for (const text of [
    '',
    '/',
    '/a',
    'a/',
    'a//b',
    '.',
    '..',
    '../a',
    'a/../b',
    'a/.b',
    'a\\b',
    'a b',
    'a\0',
    'é',
    'a'.repeat(513),
  ]) {
    assert.equal(blobKey(text), undefined, text);
  }
});
