import assert from 'node:assert/strict';
import { rename } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { temporaryFolder } from '../../../../test/support/temporary.ts';
import { writeBody } from './body-samples.suite.ts';

const HASH = '0000000000000000';

test('a body is read while its file is being moved', async (t) => {
  const folder = temporaryFolder(t);
  const body = writeBody(folder, '1111111111111111', assert.fail);
  await body.written;
  const [moved, go] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const moving = body.moveTo(join(folder, 'there'), HASH, async (from, to) => {
    await rename(from, to);
    moved.resolve();
    await go.promise;
  });
  await moved.promise;
  const first = body.prepare();
  setImmediate(go.resolve);
  const second = moving.then(() => body.prepare()); // while the first opening may still be failing
  assert.deepEqual(await Promise.all([first, second]), [true, true]);
  assert.deepEqual(await Array.fromAsync(body.read({ first: 0, last: 0 })), [Buffer.from('x')]);
});

test('a body whose file could not be moved is read at its old place; one whose file is gone is lost', async (t) => {
  const folder = temporaryFolder(t);
  let lost = 0;
  const body = writeBody(folder, '1111111111111111', () => void lost++);
  await body.written;
  const refuse = () => Promise.reject(new Error('no'));
  await assert.rejects(body.moveTo(join(folder, 'there'), HASH, refuse), /no/);
  assert.equal(await body.prepare(), true);
  assert.equal(body.path, join(folder, '1111111111111111'));
  const other = writeBody(folder, '2222222222222222', () => void lost++);
  await other.written;
  await other.moveTo(join(folder, 'there'), HASH, async () => undefined); // it never arrives there
  assert.equal(await other.prepare(), false);
  assert.equal(lost, 1);
});
