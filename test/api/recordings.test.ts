/** Recordings over HTTP, on both engines: the setting, the list, playing, downloading, deleting, forgetting, and storage that speaks S3. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import HLS from 'hls-parser';
import { loadOrMakeKeyring } from '#db/secrets/keyring.ts';
import { recordLiveReport } from '#db/tables/live/reports.ts';
import { systemClock } from '#lib/clock.ts';
import { forgetRecordings } from '#logs/recordings/forget.ts';
import { takeRecording } from '#logs/recordings/receive.ts';
import { type BlobKey, BlobMissing, type BlobStore, blobKey } from '#logs/store/blob-store.ts';
import { localBlobStore } from '#logs/store/local.ts';
import { s3BlobStore } from '#logs/store/s3.ts';
import { add, dataOf, specOf, startWithCustomers } from '../support/api/customers.ts';
import { describeOnBothEngines, type NewDatabase, newSqlite } from '../support/db/databases.ts';
import { began, ended } from '../support/live/live-reports.ts';
import { startS3Server } from '../support/logs/s3-server.ts';
import { temporaryFolder } from '../support/temporary.ts';

const DOMAIN = 'live.example.com';
const DAY_MS = 24 * 3_600_000;
const PIECE_MS = 10_000;

describeOnBothEngines('recordings', (newDatabase) => {
  test('a domain records if its owner turns it on, and edges hear of it', async (t) => {
    const { api, mine, theirs } = await start(t, newDatabase);
    const { revision, ...off } = dataOf(await mine('live.getRecording', { domain: DOMAIN }));
    assert.deepEqual(off, { record: '0', keep_days: 7 });
    assert.equal(Object(await specOf(api, DOMAIN)).records, undefined);
    const on = { domain: DOMAIN, record: '1', keep_days: 30, if_revision: revision };
    assert.equal((await mine('live.setRecording', on)).body['data'], true);
    assert.equal(Object(await specOf(api, DOMAIN)).records, true);
    const stale = await mine('live.setRecording', on);
    assert.equal(stale.errorCode, 'revisionChanged');
    assert.match(String(stale.body['info']), /\{"record":"1","keep_days":30\}$/);
    await mine('live.setRecording', { domain: DOMAIN, record: '0' });
    const { record, keep_days } = dataOf(await mine('live.getRecording', { domain: DOMAIN }));
    assert.deepEqual([record, keep_days], ['0', 30], 'days that are not given stay');
    const rows = [
      [{ domain: DOMAIN }, /^field record /],
      [{ domain: DOMAIN, record: '1', keep_days: 0 }, /^field keep_days .* from 1 to 3650/],
      [{ domain: DOMAIN, record: '1', keep_days: 3651 }, /^field keep_days .* from 1 to 3650/],
      [{ domain: 'www.example.com', record: '1' }, /not a live domain/],
    ] as const;
    await add(mine, 'www.example.com');
    for (const [request, info] of rows)
      assert.match(String((await mine('live.setRecording', request)).body['info']), info);
    assert.equal((await theirs('live.setRecording', { domain: DOMAIN, record: '1' })).errorCode, 'domainNotFound');
    assert.equal((await theirs('live.getRecording', { domain: DOMAIN })).errorCode, 'domainNotFound');
  });

  test('a recording is listed, played and downloaded, and pieces that are sent again change nothing', async (t) => {
    const world = await start(t, newDatabase);
    const { api, mine, record, list } = world;
    await world.report({ events: [began(1, world.name, api.now)] });
    assert.equal(await record(0), 'stored');
    assert.equal(await record(0), 'known');
    const [going] = await list();
    assert.deepEqual([going?.['status'], going?.['end_reason'], going?.['duration_ms']], ['RECORDING', '', PIECE_MS]);
    assert.match(await text(going?.['playlist_url']), /PLAYLIST-TYPE:EVENT(?!.*ENDLIST)/s);
    await record(1, { isDiscontinuity: true });
    await record(2, { endReason: 'ended' });
    assert.equal(await record(2, { endReason: 'ended' }), 'known');
    await world.report({ events: [ended(2, world.name, api.now, 'unpublished')] });
    const [whole, ...others] = await list();
    assert.deepEqual(others, []);
    const { playlist_url, download_url, ...rest } = whole ?? {};
    assert.deepEqual(rest, {
      recording_id: 'r1',
      app_name: 'live',
      stream_name: 'news',
      broadcast: 'b1',
      starttime: api.now / 1000,
      endtime: (api.now + 3 * PIECE_MS) / 1000,
      duration_ms: 3 * PIECE_MS,
      size: '22',
      status: 'COMPLETE',
      end_reason: 'ended',
    });
    const downloaded = await get(download_url);
    assert.equal(await downloaded.text(), 'initmedia0media1media2');
    assert.equal(downloaded.headers.get('content-type'), 'video/mp4');
    assert.equal(downloaded.headers.get('cross-origin-resource-policy'), 'cross-origin', 'for a plain <video src>');
    assert.match(downloaded.headers.get('content-disposition') ?? '', /filename="live_news_2026-01-31T04-00-00Z.mp4"/);
    const range = await get(download_url, { range: 'bytes=8-13' });
    assert.deepEqual([range.status, await range.text()], [206, 'a0medi']);
    assert.equal(range.headers.get('content-range'), 'bytes 8-13/22');
    const playlist = HLS.parse(await text(playlist_url));
    assert.ok(!playlist.isMasterPlaylist);
    assert.deepEqual(
      [playlist.playlistType, playlist.endlist, playlist.targetDuration, playlist.segments.length],
      ['VOD', true, 10, 3],
    );
    assert.deepEqual(
      playlist.segments.map(({ duration, discontinuity }) => [duration, discontinuity === true]),
      [
        [10, false],
        [10, true],
        [10, false],
      ],
    );
    const uris = [playlist.segments[0]?.map?.uri, ...playlist.segments.map(({ uri }) => uri)];
    const files = await Promise.all(uris.map((uri) => text(new URL(uri ?? '', String(playlist_url)).href)));
    assert.deepEqual(files, ['init', 'media0', 'media1', 'media2']);
    assert.deepEqual(await list({ stream_name: 'other' }), []);
    assert.deepEqual(await list({ endtime: api.now / 1000 - 10, starttime: api.now / 1000 - 20 }), []);
    assert.equal(dataOf(await mine('live.listRecordings', { domain: DOMAIN, page: 2 }))['total'], 1);
  });

  test('signed addresses are valid for one recording only and expire', async (t) => {
    const { api, theirs, record, list } = await start(t, newDatabase);
    await record(0, { endReason: 'crashed' });
    const [one] = await list();
    assert.equal(one?.['status'], 'INCOMPLETE');
    assert.equal((await theirs('live.listRecordings', { domain: DOMAIN })).errorCode, 'domainNotFound');
    const url = new URL(String(one?.['download_url']));
    for (const [path, status] of [
      [url.pathname.replace('r1', 'r2'), 403],
      [url.pathname.replace('recording.mp4', '7.m4s'), 404],
      [url.pathname.replace('recording.mp4', 'other'), 404],
      [url.pathname, 200],
    ] as const)
      assert.equal((await get(api.url + path + url.search)).status, status, path);
    api.now += DAY_MS;
    assert.equal((await get(url.href)).status, 403);
  });

  test('a deleted recording is hidden at once, its bytes are deleted later, and its late pieces are dropped', async (t) => {
    const { api, mine, theirs, record, list, blobs, forget } = await start(t, newDatabase);
    await record(0);
    const [one] = await list();
    const asked = { domain: DOMAIN, recording_id: 'r1' };
    assert.equal((await theirs('live.deleteRecording', asked)).errorCode, 'domainNotFound');
    assert.equal((await mine('live.deleteRecording', asked)).body['data'], true);
    assert.equal((await mine('live.deleteRecording', asked)).errorCode, 'liveRecordingNotFound');
    assert.deepEqual(await list(), []);
    const gone = await get(one?.['download_url']);
    assert.deepEqual([gone.status, gone.headers.get('x-error-code')], [404, 'recordingNotFound']);
    assert.equal(await record(1, { endReason: 'ended' }), 'unwanted');
    assert.equal(await has(blobs, 0), true);
    await forget();
    assert.equal(await has(blobs, 0), false);
    assert.equal(await record(2), 'unwanted');
    api.now += 10 * DAY_MS;
    await forget();
    assert.deepEqual(await api.db.query.selectFrom('live_recording').selectAll().execute(), []);
  });

  test('recordings are kept for the days of their domain, also when it is deleted', async (t) => {
    const { api, mine, record, list, blobs, forget } = await start(t, newDatabase);
    const key = { domain_id: await idOf(mine) };
    await mine('live.setRecording', { domain: DOMAIN, record: '1', keep_days: 3 });
    await record(0, { endReason: 'ended' });
    await mine('live.setRecording', { domain: DOMAIN, record: '1', keep_days: 10 });
    await mine('domain.delete', key);
    api.now += 9 * DAY_MS;
    await forget();
    const [one] = await list({ starttime: api.now / 1000 - 20 * 86_400 });
    assert.equal((await get(one?.['download_url'])).status, 200);
    api.now += 2 * DAY_MS;
    await forget();
    assert.equal(await has(blobs, 0), false);
    assert.deepEqual(await list({ starttime: api.now / 1000 - 20 * 86_400 }), []);
  });

  test('a recording whose bytes are missing is 404 for HEAD too', async (t) => {
    const { record, list, blobs } = await start(t, newDatabase);
    await record(0);
    const [one] = await list();
    const head = () => fetch(String(one?.['download_url']), { method: 'HEAD' });
    const whole = await head();
    assert.deepEqual([whole.status, whole.headers.get('content-length')], [200, '10']);
    await blobs.delete(keyOf(0));
    const missing = await head();
    assert.deepEqual([missing.status, missing.headers.get('x-error-code')], [404, 'recordingNotFound']);
  });

  test('bytes that a failed attempt stored are deleted once the piece is unwanted', async (t) => {
    const { mine, record, blobs } = await start(t, newDatabase);
    await record(0);
    await blobs.put(keyOf(1), Buffer.from('before the transaction failed'));
    await mine('live.deleteRecording', { domain: DOMAIN, recording_id: 'r1' });
    assert.equal(await record(1), 'unwanted');
    assert.equal(await has(blobs, 1), false);
  });

  test('bytes that a failed attempt stored are deleted if the domain is gone', async (t) => {
    const { record, blobs, api } = await start(t, newDatabase);
    await blobs.put(keyOf(0), Buffer.from('before the transaction failed'));
    api.now += 5 * DAY_MS;
    await api.db.query.deleteFrom('domain').execute();
    assert.equal(await record(0), 'foreign');
    assert.equal(await has(blobs, 0), false);
  });

  test('a recording of an unknown domain is refused', async (t) => {
    const { record, mine, blobs } = await start(t, newDatabase);
    assert.equal(await record(0, { domainId: 999_999 }), 'foreign');
    assert.equal(await record(0, { beganAt: -DAY_MS }), 'foreign', 'its number was another domain’s then');
    assert.equal(await record(0), 'stored');
    assert.equal(await record(0, { beganAt: -DAY_MS }), 'foreign');
    assert.equal(await has(blobs, 0), true, 'a piece that has a row keeps its bytes');
    const another = Number(await add(mine, 'other.example.com', { cdn_type: '4' }));
    assert.equal(await record(1, { domainId: another }), 'foreign', 'the recording is another domain’s');
  });
});

test('storage that speaks S3 keeps recordings as a directory does', async (t) => {
  const world = await start(t, newSqlite, s3BlobStore(await startS3Server(t), systemClock));
  await world.record(0);
  await world.record(1, { endReason: 'ended' });
  const [one] = await world.list();
  assert.equal(await text(one?.['download_url']), 'initmedia0media1');
  await world.mine('live.deleteRecording', { domain: DOMAIN, recording_id: 'r1' });
  await world.forget();
  assert.equal(await has(world.blobs, 0), false);
});

interface Given {
  readonly endReason?: string;
  readonly isDiscontinuity?: boolean;
  readonly domainId?: number;
  /** Milliseconds after the start of the test. */
  readonly beganAt?: number;
}

async function start(t: TestContext, newDatabase: NewDatabase, given?: BlobStore) {
  const folder = temporaryFolder(t);
  const blobs = given ?? localBlobStore(join(folder, 'blobs'));
  const ring = loadOrMakeKeyring(join(folder, 'keyring'));
  const world = await startWithCustomers(t, newDatabase, { logs: { blobs, ring, hours: 24 } });
  const { api, mine } = world;
  const { db } = api;
  const id = Number(await add(mine, DOMAIN, { cdn_type: '4' }));
  const name = { domainId: id, app: 'live', stream: 'news', broadcast: 'b1' };
  const startedAt = api.now;
  return {
    ...world,
    name,
    blobs,
    report: (given: Pick<Parameters<typeof recordLiveReport>[1], 'events' | 'streams'>) =>
      db.transaction((trx) => recordLiveReport(trx, { edge: 'edge-1', epoch: 'e1', ...given }, api.now)),
    /** A piece of the recording r1. */
    record: (n: number, { endReason = '', isDiscontinuity = false, domainId = id, beganAt = 0 }: Given = {}) =>
      takeRecording(
        { db, blobs },
        {
          recording: { id: 'r1', ...name, domainId, edge: 'edge-1', beganAt: startedAt + beganAt },
          piece: { n, initBytes: 4, mediaBytes: 6, durationMs: PIECE_MS, isDiscontinuity },
          endsAt: startedAt + (n + 1) * PIECE_MS,
          endReason,
        },
        Buffer.from(`initmedia${n}`),
      ),
    async list(filter: Record<string, unknown> = {}) {
      const { list } = dataOf(await mine('live.listRecordings', { domain: DOMAIN, ...filter }));
      return list as Record<string, unknown>[]; // what the contract says
    },
    forget: () => forgetRecordings({ db, blobs }, api.now, AbortSignal.timeout(60_000)),
  };
}

async function idOf(mine: Awaited<ReturnType<typeof start>>['mine']): Promise<string> {
  const { list } = dataOf(await mine('domain.list', {}));
  return String(Object(list)[0].domain_id);
}

async function get(url: unknown, headers: Record<string, string> = {}): Promise<Response> {
  return await fetch(String(url), { headers });
}

async function text(url: unknown): Promise<string> {
  const response = await get(url);
  assert.equal(response.status, 200, String(url));
  return await response.text();
}

/** Key of a piece's bytes. The first domain of a database has the id 1. */
function keyOf(n: number): BlobKey {
  const key = blobKey(`recordings/1/r1/${n}.mp4`);
  assert.ok(key !== undefined);
  return key;
}

/** Whether the bytes of a piece are there. */
async function has(blobs: BlobStore, n: number): Promise<boolean> {
  try {
    for await (const _ of await blobs.read(keyOf(n), { start: 0, end: 1 }));
    return true;
  } catch (error) {
    if (error instanceof BlobMissing) return false;
    throw error;
  }
}
