/** Blobs in storage that speaks S3, against a server that is not ours. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { systemClock } from '../src/lib/clock.ts';
import { blobStoreSuite, key } from '../src/logs/store/blob-store.suite.ts';
import { s3BlobStore } from '../src/logs/store/s3.ts';
import { startS3Server } from './support/s3-server.ts';

blobStoreSuite('S3', async (t) => s3BlobStore(await startS3Server(t), systemClock));

test('who has no access is told so in the code of the storage, without the secret', async (t) => {
  const place = await startS3Server(t);
  const credentials = { accessKey: 'NOBODY', secretKey: 'a-secret' };
  const store = s3BlobStore({ ...place, credentials }, systemClock);
  await assert.rejects(store.put(key('x'), Buffer.from('x')), (error: Error) => {
    assert.match(error.message, /S3 storage answered PUT x with 403 InvalidAccessKeyId/);
    assert.ok(!error.message.includes('a-secret'));
    return true;
  });
});

test('storage that is not there is named', async (t) => {
  const place = await startS3Server(t);
  const store = s3BlobStore({ ...place, endpoint: 'http://127.0.0.1:9' }, systemClock);
  await assert.rejects(store.put(key('x'), Buffer.from('x')), /S3 storage 127\.0\.0\.1:9 cannot be reached: /);
});
