/** Live streams over the feed: marks and keys reach an edge's own file, and a live process's report is answered and listed. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { loadOrMakeKeyring } from '#db/secrets/keyring.ts';
import { saveLiveKeys } from '#db/tables/live/keys.ts';
import { forbidStream, listStreamFacts } from '#db/tables/live/streams.ts';
import { publish } from '#db/tables/resources.ts';
import { startFeedServer } from '#feed/server/server.ts';
import { openSiteReader } from '#feed/store/edge-store.ts';
import { systemClock } from '#lib/clock.ts';
import { newSqlite } from '../support/db/databases.ts';
import { eventually } from '../support/eventually.ts';
import { openTestDatabase, silentLog, startTestEdge } from '../support/feed/feed.ts';
import { addLiveDomain, began, onAir, sendLiveReport } from '../support/live/live-reports.ts';
import { temporaryFolder } from '../support/temporary.ts';

test("marks and keys reach the edge's file; reports of a live process are stored and acknowledged", async (t) => {
  const { db, feed, ring, domainId, socketPath, folder } = await start(t);
  await using edge = startTestEdge(folder, socketPath);
  using reader = openSiteReader(edge.file);
  const name = { domainId, app: 'live', stream: 'news', broadcast: 'b1' };
  const keys = { publish: ['primary0primary0', 'secondary0secondary0'], play: [] };
  await db.transaction(async (trx) => {
    const marked = await forbidStream(trx, name, 0, 1);
    assert.ok(marked.kind === 'changes');
    await publish(trx, [...marked.changes, await saveLiveKeys(trx, ring, { domainId, keys, now: 1 })], 1);
  });
  await eventually('the mark is there', () => reader.getLiveMark(domainId, 'live', 'news')?.forbidden === true);
  assert.deepEqual(reader.getLiveKeys(domainId), keys);
  assert.equal(edge.store.countRejections(), 0);

  const report = { edge: 'local', epoch: 'e', at: 1, events: [began(1, name, 1000)], streams: [onAir(name, 1000)] };
  assert.deepEqual(await sendLiveReport(socketPath, report), { taken: 1, notOwned: [] });
  assert.deepEqual(await sendLiveReport(socketPath, { ...report, edge: 'other' }), { taken: 1, notOwned: ['b1'] });
  assert.deepEqual(
    feed.liveCounts().map(({ edge: of, streams }) => [of, streams]),
    [
      ['local', 1],
      ['other', 1],
    ],
  );
  const [stream] = await listStreamFacts(db.query, { domainId, now: systemClock() });
  assert.deepEqual([stream?.edge, stream?.status?.flashVer, stream?.isForbidden], ['local', 'FMLE/3.0', true]);
});

test('the feed ends only after it has recorded the reports that it has received', async (t) => {
  const { db, feed, socketPath, domainId } = await start(t);
  const { promise: isFree, resolve: free } = Promise.withResolvers<void>();
  const before = db.transaction(() => isFree);
  const received = t.mock.method(db, 'transaction');
  const name = { domainId, app: 'live', stream: 'news', broadcast: 'b1' };
  const report = { edge: 'local', epoch: 'e', at: 1, events: [began(1, name, 1000)], streams: [onAir(name, 1000)] };
  const answered = sendLiveReport(socketPath, report).catch(() => undefined); // its connection is cut
  await eventually('the report waits for the database', () => received.mock.callCount() === 1);
  const ended = feed[Symbol.asyncDispose]();
  assert.equal(await Promise.race([ended.then(() => 'ended'), delay(200, 'waits')]), 'waits');
  free();
  await Promise.all([before, answered, ended]);
  assert.equal((await listStreamFacts(db.query, { domainId, now: systemClock() })).length, 1);
});

async function start(t: TestContext) {
  const folder = temporaryFolder(t);
  const db = await openTestDatabase(await newSqlite(t));
  t.after(() => db[Symbol.asyncDispose]());
  const ring = loadOrMakeKeyring(join(folder, 'keyring'));
  const socketPath = join(folder, 'feed.sock');
  const feed = await startFeedServer({ db, socketPath, ring, clock: systemClock, log: silentLog });
  t.after(() => feed[Symbol.asyncDispose]());
  const { domainId } = await addLiveDomain(db);
  return { db, feed, ring, domainId, socketPath, folder };
}
