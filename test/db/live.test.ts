/** Live streams on both engines: reports are stored once and in order, a stream has one owner, marks and history end in time. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { rotateKeyring } from '#db/rotation/sealed-secrets.ts';
import { loadOrMakeKeyring } from '#db/secrets/keyring.ts';
import { listBroadcasts, listViewers, pruneLiveHistory } from '#db/tables/live/history.ts';
import { readLiveKeys, saveLiveKeys } from '#db/tables/live/keys.ts';
import { endSilent, OWNER_SILENT_MS, recordLiveReport, type StoredReport } from '#db/tables/live/reports.ts';
import {
  forbidStream,
  forgetStreams,
  kickStream,
  listStreamFacts,
  pageStreams,
  pruneStreams,
  resumeStream,
  settleMarks,
} from '#db/tables/live/streams.ts';
import { publish } from '#db/tables/resources.ts';
import { tidy } from '#feed/server/housekeeping.ts';
import { type ListedStreamState, listStreamStates, READY_KEEP_MS } from '#model/live-stream.ts';
import { type DatabaseTarget, describeOnBothEngines } from '../support/db/databases.ts';
import { openTestDatabase } from '../support/feed/feed.ts';
import { addLiveDomain, began, ended, onAir } from '../support/live/live-reports.ts';
import { temporaryFolder } from '../support/temporary.ts';

/** A time in the middle of an hour. */
const T = 1_800_001_800_000;

describeOnBothEngines('live streams in the database', (newDatabase) => {
  test('an event is stored once, however often it is sent', async (t) => {
    const { list, history, report, name } = await start(t, await newDatabase(t));
    const events = [began(1, name('a'), T), ended(2, name('a'), T + 50, 'stopped')];
    assert.deepEqual(await report({ events }), { taken: 2, notOwned: [] });
    assert.deepEqual(await list(), [['a', 'READY', T, T + 50]]);
    assert.deepEqual(await report({ events }), { taken: 2, notOwned: [] });
    assert.deepEqual(await report({ events: [...events, began(3, name('a', 'b2'), T + 60)] }), {
      taken: 3,
      notOwned: [],
    });
    assert.deepEqual(await list(), [['a', 'ONGOING', T + 60, 0]]);
    assert.deepEqual(
      (await history()).map(({ broadcast, endReason }) => [broadcast, endReason]),
      [
        ['b2', ''],
        ['b1', 'stopped'],
      ],
    );
  });

  test('a report of the streams on air replaces the one before, even after the file of events was lost', async (t) => {
    const { list, history, report, name } = await start(t, await newDatabase(t));
    await report({ events: [began(1, name('a'), T)], streams: [onAir(name('a'), T, { lastMediaAt: T + 9 })] });
    await report({ events: [] });
    assert.deepEqual(await list(), [['a', 'ONGOING', T, 0]]);
    const answer = await report({
      epoch: 'e2',
      events: [began(1, name('b'), T + 20)],
      streams: [onAir(name('b'), T + 20)],
    });
    assert.equal(answer.taken, 1);
    assert.deepEqual(await list(), [
      ['b', 'ONGOING', T + 20, 0],
      ['a', 'READY', T, T + 9],
    ]);
    assert.equal((await history()).find(({ stream }) => stream === 'a')?.endReason, 'crashed');
  });

  test('events that arrive after the list of streams on air still say how each broadcast ended', async (t) => {
    const { list, history, report, name } = await start(t, await newDatabase(t));
    const [first, second] = [name('a', 'b1'), name('a', 'b2')];
    await report({ events: [began(1, first, T)], streams: [onAir(second, T + 100)] });
    await report({
      events: [ended(2, first, T + 50, 'lost'), began(3, second, T + 100)],
      streams: [onAir(second, T + 100)],
    });
    assert.deepEqual(await list(), [['a', 'ONGOING', T + 100, 0]]);
    assert.deepEqual(
      (await history()).map(({ broadcast, endedAt, endReason }) => [broadcast, endedAt, endReason]),
      [
        ['b2', 0, ''],
        ['b1', T + 50, 'lost'],
      ],
    );
  });

  test('a stream has one owner until that owner is silent', async (t) => {
    const { list, history, report, name } = await start(t, await newDatabase(t));
    const [first, second] = [name('a', 'b1'), name('a', 'b2')];
    await report({ events: [began(1, first, T)], streams: [onAir(first, T)] });
    const other = { edge: 'edge-2', events: [began(1, second, T + 10)], streams: [onAir(second, T + 10)] };
    assert.deepEqual(await report(other, T + OWNER_SILENT_MS), { taken: 1, notOwned: ['b2'] });
    assert.deepEqual(await list(), [['a', 'ONGOING', T, 0]]);
    const later = T + OWNER_SILENT_MS + 1;
    assert.deepEqual(await report({ ...other, events: [] }, later), { taken: 1, notOwned: [] });
    assert.deepEqual(await list(), [['a', 'ONGOING', T + 10, 0]]);
    assert.deepEqual(await report({ events: [], streams: [onAir(first, T)] }, later), { taken: 1, notOwned: ['b1'] });
    assert.equal((await history()).find(({ broadcast }) => broadcast === 'b1')?.endReason, 'replaced');
    await report({ edge: 'edge-2', events: [ended(2, second, T + 90)], streams: [] }, later);
    assert.deepEqual(await report({ events: [], streams: [onAir(first, T)] }, later), { taken: 1, notOwned: ['b1'] });
    assert.deepEqual(await list(), [['a', 'READY', T + 10, T + 90]]);
  });

  test('broadcasts of a live process that stays silent have ended, and continue if it comes back', async (t) => {
    const { db, list, report, name } = await start(t, await newDatabase(t));
    const streams = [onAir(name('a'), T, { lastMediaAt: T + 5 })];
    await report({ events: [], streams });
    await db.transaction((trx) => endSilent(trx, T, 10));
    assert.deepEqual(await list(), [['a', 'ONGOING', T, 0]]);
    await db.transaction((trx) => endSilent(trx, T + 1, 10));
    assert.deepEqual(await list(), [['a', 'READY', T, T + 5]]);
    await report({ events: [], streams });
    assert.deepEqual(await list(), [['a', 'ONGOING', T, 0]]);
  });

  test('reports of a domain that does not exist are acknowledged and ignored', async (t) => {
    const { list, report, name } = await start(t, await newDatabase(t));
    const unknown = { ...name('a'), domainId: 999 };
    const answer = await report({ events: [began(1, unknown, T)], streams: [onAir(unknown, T)] });
    assert.deepEqual([answer, await list()], [{ taken: 1, notOwned: [] }, []]);
  });

  test('a mark is published, survives the broadcast, and ends by order or in time', async (t) => {
    const { db, list, marks, report, name, change } = await start(t, await newDatabase(t));
    const a = name('a');
    await report({ events: [began(1, a, T)] });
    await change((trx) => forbidStream(trx, a, 0, T + 10));
    assert.deepEqual(await list(T + 10), [['a', 'PAUSED', T, T + 10]]);
    assert.deepEqual(await marks(), [['live/a', { forbidden: true, until: 0, kicked: '' }]]);
    await report({ events: [ended(2, a, T + 12, 'forbidden')] });
    await change((trx) => forbidStream(trx, a, T + 500, T + 300));
    assert.deepEqual(await list(T + 499), [['a', 'PAUSED', T, T + 12]]);
    assert.deepEqual(await list(T + 500), [['a', 'READY', T, T + 12]]);
    assert.equal((await marks()).length, 1);
    await change(async (trx) => ({ kind: 'changes', changes: await settleMarks(trx, T + 500, 10) }));
    assert.deepEqual([await marks(), await list(T + 501)], [[], [['a', 'READY', T, T + 12]]]);

    const never = name('never');
    await change((trx) => forbidStream(trx, never, 0, T));
    assert.deepEqual(await list(), [
      ['never', 'PAUSED', 0, 0],
      ['a', 'READY', T, T + 12],
    ]);
    await change((trx) => resumeStream(trx, never, T + 20));
    await change((trx) => resumeStream(trx, never, T + 21));
    assert.deepEqual([(await list())[1], await marks()], [['never', 'READY', 0, 0], []]);
    const missing = await db.transaction((trx) => resumeStream(trx, name('unknown'), T));
    assert.equal(missing.kind, 'missing');
  });

  test('a kick names the broadcast on air, and is deleted after the broadcast ends', async (t) => {
    const { db, marks, report, name, change } = await start(t, await newDatabase(t));
    const a = name('a');
    await report({ events: [began(1, a, T)] });
    await change((trx) => kickStream(trx, a));
    assert.deepEqual(await marks(), [['live/a', { forbidden: false, until: 0, kicked: 'b1' }]]);
    await tidy(db, T + 1);
    assert.equal((await marks()).length, 1);
    await report({ events: [ended(2, a, T + 5, 'kicked')] });
    assert.equal((await db.transaction((trx) => kickStream(trx, a))).kind, 'notOnAir');
    await tidy(db, T + 10);
    assert.deepEqual(await marks(), []);
  });

  test('deleting a domain deletes its marks and keys', async (t) => {
    const { db, ring, domainId, marks, name, change, resources } = await start(t, await newDatabase(t));
    await change((trx) => forbidStream(trx, name('a'), 0, T));
    const keys = { publish: ['one'], play: [] };
    await change(async (trx) => ({
      kind: 'changes',
      changes: [await saveLiveKeys(trx, ring, { domainId, keys, now: T })],
    }));
    assert.deepEqual([(await marks()).length, (await resources('live_keys')).length], [1, 1]);
    await change(async (trx) => ({ kind: 'changes', changes: await forgetStreams(trx, domainId) }));
    assert.deepEqual([await marks(), await resources('live_keys')], [[], []]);
    assert.deepEqual(await readLiveKeys(db.query, ring, domainId), { publish: [], play: [] });
  });

  test('keys are stored sealed, also in the feed, and are sealed anew with a new key of the ring', async (t) => {
    const { db, ring, domainId, change, resources } = await start(t, await newDatabase(t));
    const keys = { publish: ['primary', 'secondary'], play: ['player'] };
    await change(async (trx) => ({
      kind: 'changes',
      changes: [await saveLiveKeys(trx, ring, { domainId, keys, now: T })],
    }));
    const stored = async () => [
      (await db.query.selectFrom('live_keys').select('sealed_keys').executeTakeFirstOrThrow()).sealed_keys,
      (await resources('live_keys'))[0]?.body ?? '',
    ];
    assert.ok((await stored()).every((text) => !text.includes('primary')));
    const { keyId, secrets } = await rotateKeyring(db, ring);
    assert.equal(secrets, 1);
    assert.ok((await stored()).every((text) => text.includes(`v1.${keyId}.`)));
    assert.deepEqual(await readLiveKeys(db.query, ring, domainId), keys);
  });

  test('viewers are stored by minute and hour with their maximum, the peak with the broadcast', async (t) => {
    const { db, domainId, history, report, name } = await start(t, await newDatabase(t));
    const watched = (flv: number, hls: number) => [
      onAir(name('a'), T, { viewers: { flv, websocket: 0, rtmp: 0, hls } }),
    ];
    await report({ events: [], streams: watched(1, 0) }, T);
    await report({ events: [], streams: watched(2, 5) }, T + 5000);
    await report({ events: [], streams: watched(6, 0) }, T + 10_000);
    await report(
      {
        events: [],
        streams: [...watched(3, 0), onAir(name('b'), T, { viewers: { flv: 0, websocket: 1, rtmp: 1, hls: 0 } })],
      },
      T + 60_000,
    );
    const show = async (grain: 'minute' | 'hour', stream?: string) =>
      (await listViewers(db.query, { domainId, grain, stream, from: 0, to: T * 2 })).map(
        ({ at, flv, websocket, rtmp, hls }) => [at - T, flv, websocket, rtmp, hls],
      );
    assert.deepEqual(await show('minute'), [
      [0, 2, 0, 0, 5],
      [60_000, 3, 1, 1, 0],
    ]);
    assert.deepEqual(await show('hour', 'a'), [[-1_800_000, 2, 0, 0, 5]]);
    assert.equal((await history()).find(({ stream }) => stream === 'a')?.peakViewers, 7);
  });

  test('history ends after 90 days and at its bound, a READY stream after 30 days; streams on air stay', async (t) => {
    const { db, history, list, report, name } = await start(t, await newDatabase(t));
    const events = [1, 2, 3, 4].flatMap((n) => [
      began(2 * n - 1, name('a', `b${n}`), T + n),
      ended(2 * n, name('a', `b${n}`), T + n),
    ]);
    await report({ events: [...events, began(9, name('on-air'), T)], streams: [onAir(name('on-air'), T)] });
    await pruneLiveHistory(db.query, T + 5, 3);
    assert.deepEqual(
      (await history()).map(({ broadcast }) => broadcast),
      ['b4', 'b3', 'b2', 'b1'],
      'b1 is the one on air',
    );
    const later = T + READY_KEEP_MS + 4;
    await db.transaction((trx) => pruneStreams(trx, later));
    const rows = await db.query.selectFrom('live_stream').select('stream').execute();
    assert.deepEqual([rows, await list(later)], [[{ stream: 'on-air' }], [['on-air', 'ONGOING', T, 0]]]);
    await pruneLiveHistory(db.query, T + 4 * READY_KEEP_MS);
    assert.deepEqual(
      (await history()).map(({ stream }) => stream),
      ['on-air'],
    );
    assert.deepEqual(await db.query.selectFrom('live_viewers').selectAll().execute(), []);
  });

  test("operators see every domain's streams, a page at a time, also by their state", async (t) => {
    const { db, accountId, report, name, change } = await start(t, await newDatabase(t));
    const streams = ['a', 'b', 'c'].map((stream) => onAir(name(stream), T));
    await report({ events: [], streams });
    await change((trx) => forbidStream(trx, name('c'), 0, T + 1));
    const show = async (filter: { state?: ListedStreamState; accountId?: number; limit?: number; offset?: number }) => {
      const page = await pageStreams(db.query, { limit: 10, offset: 0, now: T + 2, ...filter });
      return [page.total, ...page.streams.map(({ stream, domainName }) => `${domainName}/${stream}`)];
    };
    assert.deepEqual(await show({ limit: 1, offset: 1 }), [3, 'live.example.com/b']);
    assert.deepEqual(await show({ state: 'PAUSED' }), [1, 'live.example.com/c']);
    assert.deepEqual(await show({ state: 'ONGOING', accountId }), [2, 'live.example.com/a', 'live.example.com/b']);
    assert.deepEqual(await show({ accountId: accountId + 1 }), [0]);
  });
});

async function start(t: TestContext, target: DatabaseTarget) {
  const db = await openTestDatabase(target);
  t.after(() => db[Symbol.asyncDispose]());
  const ring = loadOrMakeKeyring(join(temporaryFolder(t), 'keyring'));
  const { accountId, domainId } = await addLiveDomain(db);
  const report = (given: Partial<StoredReport>, now = T) =>
    db.transaction((trx) => recordLiveReport(trx, { edge: 'edge-1', epoch: 'e1', events: [], ...given }, now));
  const resources = (kind: string) =>
    db.query.selectFrom('resource').select(['key', 'body']).where('kind', '=', kind).where('deleted', '=', 0).execute();
  return {
    db,
    ring,
    accountId,
    domainId,
    report,
    resources,
    name: (stream: string, broadcast = 'b1') => ({ domainId, app: 'live', stream, broadcast }),
    list: async (now = T + 1000) =>
      listStreamStates(await listStreamFacts(db.query, { domainId, now }), now).map(
        ({ stream, state, beganAt, endedAt }) => [stream, state, beganAt, endedAt],
      ),
    history: async () =>
      (await listBroadcasts(db.query, { domainId, from: 0, to: T * 2, limit: 100, offset: 0 })).broadcasts,
    marks: async () =>
      (await resources('live_mark')).map(({ key, body }) => [key.slice(key.indexOf('/') + 1), JSON.parse(body)]),
    /** Runs changes as an operation does: they are published at the end of the transaction. */
    change: async (
      work: (trx: Parameters<Parameters<typeof db.transaction>[0]>[0]) => ReturnType<typeof resumeStream>,
    ) => {
      await db.transaction(async (trx) => {
        const marked = await work(trx);
        assert.ok(marked.kind === 'changes');
        await publish(trx, marked.changes, T);
      });
    },
  };
}
