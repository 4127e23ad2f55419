/** Blobs in storage that speaks S3, against a server that is not ours. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { createAccount } from '../../src/db/tables/accounts.ts';
import { insertDomain } from '../../src/db/tables/domains.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { findDayFile } from '../../src/logs/day-file.ts';
import { blobStoreSuite, key } from '../../src/logs/store/blob-store.suite.ts';
import { BlobMissing } from '../../src/logs/store/blob-store.ts';
import { readJoined } from '../../src/logs/store/joined.ts';
import { s3BlobStore } from '../../src/logs/store/s3.ts';
import { DEFAULT_SETTINGS } from '../../src/model/domain.ts';
import { newSqlite } from '../support/db/databases.ts';
import { eventually } from '../support/eventually.ts';
import { openTestDatabase } from '../support/feed/feed.ts';
import { startS3Server } from '../support/logs/s3-server.ts';
import { createTestTraffic } from '../support/logs/traffic.ts';
import { startRelay } from '../support/relay.ts';

blobStoreSuite('S3', async (t) => s3BlobStore(await startS3Server(t), systemClock));

test("a client without access gets the storage's error code, without the secret", async (t) => {
  const place = await startS3Server(t);
  const credentials = { accessKey: 'NOBODY', secretKey: 'a-secret' };
  const store = s3BlobStore({ ...place, credentials }, systemClock);
  await assert.rejects(store.put(key('x'), Buffer.from('x')), (error: Error) => {
    assert.match(error.message, /S3 storage answered PUT x with 403 InvalidAccessKeyId/);
    assert.ok(!error.message.includes('a-secret'));
    return true;
  });
});

test('storage that does not exist is named', async (t) => {
  const place = await startS3Server(t);
  const store = s3BlobStore({ ...place, endpoint: 'http://127.0.0.1:9' }, systemClock);
  await assert.rejects(store.put(key('x'), Buffer.from('x')), /S3 storage 127\.0\.0\.1:9 cannot be reached: /);
});

test('a day that edges have reported is read from it, whole and in part', async (t) => {
  const blobs = s3BlobStore(await startS3Server(t), systemClock);
  await using db = await openTestDatabase(await newSqlite(t));
  const { id: accountId } = await createAccount(db.query, { name: 'a', kind: 'customer', now: 0 });
  const { id } = await insertDomain(db.query, {
    accountId,
    name: 'www.example.com',
    type: 'static',
    icpNumber: '',
    remark: '',
    state: 'open',
    createdAt: 0,
    settings: DEFAULT_SETTINGS,
  });
  const traffic = createTestTraffic(t, db, blobs);
  const at = Date.UTC(2026, 0, 31, 4);
  await traffic.addLines(id, at - 3_600_000, ['one', 'two']);
  await traffic.addLines(id, at, ['three']);
  const file = await findDayFile(db.query, id, '2026-01-31');
  assert.ok(file !== undefined);
  const read = async (start: number, end: number) => {
    const chunks: Buffer[] = [];
    for await (const chunk of readJoined(blobs, file, { start, end })) chunks.push(Buffer.from(chunk));
    return Buffer.concat(chunks);
  };
  const whole = await read(0, file.bytes);
  assert.equal(gunzipSync(whole).toString(), 'one\ntwo\nthree\n');
  const middle = Math.floor(file.bytes / 2);
  assert.ok((await read(middle - 9, middle + 9)).equals(whole.subarray(middle - 9, middle + 9)));
});

test('storage that is cut off in the middle has stored nothing, and an object that it cuts off is not complete', async (t) => {
  const place = await startS3Server(t);
  await using relay = await startRelay(place.endpoint);
  const store = s3BlobStore({ ...place, endpoint: relay.url }, systemClock);
  const bytes = randomBytes(8_000_000);
  relay.freeze();
  const putting = store.put(key('x'), bytes);
  putting.catch(() => undefined); // it is looked at below
  await eventually('it has begun', () => relay.isUsed);
  relay.cut();
  await assert.rejects(putting, /S3 storage .* cannot be reached/);
  relay.mend();
  const span = { start: 0, end: bytes.length };
  await assert.rejects(store.read(key('x'), span), BlobMissing);
  await store.put(key('x'), bytes);
  const reading = await store.read(key('x'), span);
  await assert.rejects(async () => {
    for await (const _ of reading) relay.cut();
  });
});
