/** Live streams over HTTP on both engines: the documented list, its extensions, operators' actions, and refusals. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { sql } from 'kysely';
import { decodeRequest } from '#contract/decode.ts';
import { OPERATIONS } from '#contract/operations.ts';
import type { RouteName } from '#contract/routes.ts';
import { recordLiveReport, type StoredReport } from '#db/tables/live/reports.ts';
import { isAppName, isStreamName } from '#sites/live.ts';
import { checkAuthKey } from '#sites/live-key.ts';
import type { TestApiOptions } from '../support/api/api.ts';
import { add, dataOf, startWithCustomers } from '../support/api/customers.ts';
import { describeOnBothEngines, type NewDatabase, newSqlite } from '../support/db/databases.ts';
import { began, ended, onAir } from '../support/live/live-reports.ts';

const DOMAIN = 'live.example.com';
const NEWS = { app_name: 'live', stream_name: 'news' };
const OF_DOMAIN: readonly RouteName[] = ['live.streams', 'live.history', 'live.viewers', 'live.pushInfo'];

describeOnBothEngines('live streams', (newDatabase) => {
  test('the stream list has five fields at every step: start, forbid, resume, end', async (t) => {
    const { api, mine, operate, key, report, name, seconds } = await start(t, newDatabase);
    const list = async () => (await mine('live.streams', { domain: 'LIVE.example.com' })).body['data'];
    assert.deepEqual(await list(), []);
    await report({ events: [began(1, name('news'), api.now)], streams: [onAir(name('news'), api.now)] });
    const begin = seconds();
    assert.deepEqual(await list(), [{ ...NEWS, status: 'ONGOING', timestamp: begin, endtime: 0 }]);

    api.now += 5000;
    assert.equal((await operate('liveOperator.forbid', key)).body['data'], true);
    assert.deepEqual(await list(), [{ ...NEWS, status: 'PAUSED', timestamp: begin, endtime: begin + 5 }]);
    api.now += 1000;
    await report({ events: [ended(2, name('news'), api.now, 'forbidden')], streams: [] });
    assert.deepEqual(await list(), [{ ...NEWS, status: 'PAUSED', timestamp: begin, endtime: begin + 6 }]);
    assert.equal((await operate('liveOperator.resume', key)).body['data'], true);
    assert.equal((await operate('liveOperator.resume', key)).body['data'], true, 'once more changes nothing');
    assert.deepEqual(await list(), [{ ...NEWS, status: 'READY', timestamp: begin, endtime: begin + 6 }]);

    const never = { ...key, stream_name: 'never' };
    await operate('liveOperator.forbid', { ...never, resume_at: seconds() + 60 });
    assert.deepEqual(
      (await operate('liveOperator.forbid', { ...never, resume_at: seconds() })).errorCode,
      'resumePast',
    );
    const [first] = (await list()) as unknown[];
    assert.deepEqual(first, { app_name: 'live', stream_name: 'never', status: 'PAUSED', timestamp: 0, endtime: 0 });
    api.now += 60_000;
    assert.deepEqual(
      ((await list()) as { status: string }[]).map(({ status }) => status),
      ['READY', 'READY'],
      'it is resumed at its time, before anything is tidied',
    );
    await mine('domain.setStatus', { domain_id: key.domain_id, domain_status: '0' });
    assert.equal(((await list()) as unknown[]).length, 2, 'a closed domain is listed');
  });

  test("another account's domain, an unknown one and one of another type are refused with status 0", async (t) => {
    const { mine, theirs, operate, key } = await start(t, newDatabase);
    const www = await add(mine, 'www.example.com');
    for (const route of OF_DOMAIN) {
      const refusals = [
        await theirs(route, { domain: DOMAIN, ...NEWS }),
        await mine(route, { domain: 'unknown.example.com', ...NEWS }),
        await mine(route, { domain: 'www.example.com', ...NEWS }),
      ];
      assert.deepEqual(
        refusals.map(({ body, errorCode }) => [body['status'], errorCode]),
        [
          [0, 'domainNotFound'],
          [0, 'domainNotFound'],
          [0, 'domainNotLive'],
        ],
        route,
      );
      assert.match(String(refusals[2]?.body['info']), /is not a live domain \(cdn_type 4\)/);
    }
    const asked = { ...key, kind: 'publish', action: 'rotate' };
    for (const route of ['forbid', 'resume', 'kick', 'history', 'getKeys', 'setKeys'] as const) {
      const other = await operate(`liveOperator.${route}`, { ...asked, account_id: '999' });
      const notLive = await operate(`liveOperator.${route}`, { ...asked, domain_id: www });
      assert.deepEqual([other.errorCode, notLive.errorCode], ['domainNotFound', 'domainNotLive'], route);
      assert.equal((await mine(`liveOperator.${route}`, asked)).errorCode, 'pathUnknown');
    }
    const odd = await mine('live.pushInfo', { domain: DOMAIN, app_name: 'a/b', stream_name: 'x' });
    assert.match(String(odd.body['info']), /^field app_name is invalid: expected a name of 1 to 64 letters/);
  });

  test('a domain has at most 10,000 forbidden streams, and resuming one makes room for another', async (t) => {
    const { api, operate, key } = await start(t, newDatabase);
    await sql`
      with recursive n(i) as (select 1 union all select i + 1 from n where i < 10000)
      insert into live_stream (domain_id, app, stream, broadcast, edge, began_at, ended_at, status,
        forbidden, forbidden_at, forbidden_until, resumed_at, kicked)
      select ${sql.lit(Number(key.domain_id))}, 'live', 's' || i, '', '', 0, 0, '', 1, 1, 0, 0, '' from n
    `.execute(api.db.query);
    assert.equal((await operate('liveOperator.forbid', key)).errorCode, 'liveForbidLimit');
    assert.equal((await operate('liveOperator.forbid', { ...key, stream_name: 's7' })).body['data'], true);
    await operate('liveOperator.resume', { ...key, stream_name: 's7' });
    assert.equal((await operate('liveOperator.forbid', key)).body['data'], true);
  });

  test('operators see details of streams on air, kick a publisher, and read the history', async (t) => {
    const { api, operate, mine, key, report, name, seconds } = await start(t, newDatabase);
    const begin = seconds();
    const viewers = { flv: 3, websocket: 1, rtmp: 0, hls: 2 };
    await report({ events: [], streams: [onAir(name('news'), api.now, { viewers }), onAir(name('b'), api.now)] });
    api.now += 2000;
    const { total, list } = dataOf(await operate('liveOperator.list', { status: 'ONGOING', page_size: 1, page: 2 }));
    assert.deepEqual(
      [total, list],
      [
        2,
        [
          {
            account_id: key.account_id,
            domain_id: key.domain_id,
            domain: DOMAIN,
            ...NEWS,
            status: 'ONGOING',
            timestamp: begin,
            endtime: 0,
            resume_at: 0,
            broadcast: 'b1',
            edge: 'edge-1',
            details: {
              source: 'publish',
              address: '192.0.2.1',
              encoder: 'FMLE/3.0',
              video_codec: 'avc1',
              audio_codec: 'mp4a',
              width: 1280,
              height: 720,
              frame_rate: 30,
              key_frame_ms: 2000,
              bit_rate: 2_100_000,
              viewers,
              silent_ms: 0,
              in_grace: '0',
              repaired_timestamps: 0,
              report_age_ms: 2000,
            },
          },
        ],
      ],
    );
    assert.equal((await operate('liveOperator.kick', key)).body['data'], true);
    assert.deepEqual(await marksOf(api), [{ forbidden: false, until: 0, kicked: 'b1' }]);
    await report({ events: [ended(1, name('news'), api.now, 'kicked')] });
    assert.equal((await operate('liveOperator.kick', key)).errorCode, 'liveNotOnAir');
    const unknown = { ...key, stream_name: 'unknown' };
    assert.equal((await operate('liveOperator.kick', unknown)).errorCode, 'liveStreamNotFound');
    assert.equal((await operate('liveOperator.resume', unknown)).errorCode, 'liveStreamNotFound');

    const shared = {
      ...NEWS,
      timestamp: begin,
      endtime: begin + 2,
      source: 'publish',
      end_reason: 'kicked',
      peak_viewers: 6,
    };
    const range = { ...NEWS, starttime: begin, endtime: begin + 60 };
    assert.deepEqual(dataOf(await mine('live.history', { domain: DOMAIN, ...range })), { total: 1, list: [shared] });
    const operated = dataOf(await operate('liveOperator.history', { ...key, ...range }));
    assert.deepEqual(operated, {
      total: 1,
      list: [{ ...shared, broadcast: 'b1', edge: 'edge-1', address: '192.0.2.1' }],
    });
    const later = { domain: DOMAIN, ...NEWS, starttime: begin + 3, endtime: begin + 60 };
    assert.deepEqual(dataOf(await mine('live.history', later)), { total: 0, list: [] });
  });

  test('viewers are counted now and over time, by domain or by stream', async (t) => {
    const { api, mine, report, name, seconds } = await start(t, newDatabase);
    const watched = (stream: string, flv: number, hls: number) =>
      onAir(name(stream), api.now, { viewers: { flv, websocket: 0, rtmp: 0, hls } });
    await report({ events: [], streams: [watched('news', 4, 1), watched('b', 1, 0)] });
    api.now += 60_000;
    await report({ events: [], streams: [watched('news', 2, 2), watched('b', 1, 0)] });
    const now = { flv: 3, websocket: 0, rtmp: 0, hls: 2 };
    assert.deepEqual(dataOf(await mine('live.viewers', { domain: DOMAIN })), {
      now,
      interval: 'minute',
      list: [
        { time: seconds() - 60, flv: 5, websocket: 0, rtmp: 0, hls: 1 },
        { time: seconds(), ...now },
      ],
    });
    const hours = dataOf(await mine('live.viewers', { domain: DOMAIN, ...NEWS, interval: 'hour' }));
    assert.deepEqual(hours['list'], [{ time: seconds() - 60, flv: 4, websocket: 0, rtmp: 0, hls: 1 }]);
    const long = { domain: DOMAIN, interval: 'minute', starttime: seconds() - 2 * 86_400 };
    assert.equal((await mine('live.viewers', long)).errorCode, 'timeRangeTooLong');
    api.now += 31_000;
    const silent = dataOf(await mine('live.viewers', { domain: DOMAIN }));
    assert.deepEqual(silent['now'], { flv: 0, websocket: 0, rtmp: 0, hls: 0 }, 'a silent live process tells of nobody');
  });

  test('keys are made, rotated and removed; addresses are signed with the primary keys', async (t) => {
    const { api, mine, operate, key } = await start(t, newDatabase);
    const domain = { account_id: key.account_id, domain_id: key.domain_id };
    const keys = async () => dataOf(await operate('liveOperator.getKeys', domain));
    const set = (request: Record<string, unknown>) => operate('liveOperator.setKeys', { ...domain, ...request });
    assert.deepEqual(await keys(), { publish: [], play: [] });
    const asked = { domain: DOMAIN, ...NEWS, expire: 3600 };
    const first = dataOf(await mine('live.pushInfo', asked));
    const { publish } = await keys();
    assert.ok(Array.isArray(publish) && publish.length === 1);
    const [made = ''] = publish.map(String);
    const addresses = first['publish'] as { url: string; server: string; stream_key: string }[];
    const [{ url, server, stream_key } = { url: '', server: '', stream_key: '' }] = addresses;
    assert.deepEqual([server, url], [`rtmp://${DOMAIN}:19350/live`, `${server}/${stream_key}`]);
    const value = new URL(url).searchParams.get('auth_key') ?? undefined;
    const expiresAt = api.now + 3_600_000;
    const check = (path: string, now: number) => checkAuthKey({ value, path, keys: [made], now });
    assert.deepEqual(check('/live/news', api.now), { kind: 'valid', expiresAt });
    assert.equal(first['expire_time'], expiresAt / 1000);
    const urls = ({ play }: Record<string, unknown>) => (play as { url: string }[]).map((address) => address.url);
    assert.deepEqual(urls(first), [
      `rtmp://${DOMAIN}:19350/live/news`,
      `http://${DOMAIN}:8080/live/news.flv`,
      `http://${DOMAIN}:8080/live/news.m3u8`,
    ]);

    const given = 'encodersOfTheOldCdn';
    const rotated = dataOf(await set({ kind: 'publish', action: 'rotate', key: given }));
    assert.deepEqual(rotated, { publish: [given, made], play: [] });
    assert.deepEqual(dataOf(await set({ kind: 'publish', action: 'rotate', key: given })), rotated);
    assert.deepEqual((await keys())['publish'], [given, made]);
    assert.deepEqual(dataOf(await set({ kind: 'publish', action: 'drop_secondary' }))['publish'], [given]);
    await set({ kind: 'play', action: 'rotate' });
    const signed = urls(dataOf(await mine('live.pushInfo', asked)));
    const play = (await keys())['play'] as string[];
    for (const each of signed) {
      const { pathname, searchParams } = new URL(each);
      const checked = checkAuthKey({
        value: searchParams.get('auth_key') ?? undefined,
        path: pathname,
        keys: play,
        now: api.now,
      });
      assert.equal(checked.kind, 'valid', each);
    }
    assert.deepEqual(dataOf(await set({ kind: 'play', action: 'clear' })), { publish: [given], play: [] });
    assert.equal((await set({ kind: 'play', action: 'clear', key: given })).errorCode, 'liveKeyUnused');
    const short = await set({ kind: 'play', action: 'rotate', key: 'short' });
    assert.equal(short.errorCode, 'fieldInvalid');
    assert.ok(!String(short.body['info']).includes('short'), 'a key is not shown');
    assert.ok(!api.logLines.join('').includes(given));
  });

  test('a transferred domain gets new keys, a deleted one leaves nothing in the feed', async (t) => {
    const { api, mine, operate, other, key } = await start(t, newDatabase);
    await mine('live.pushInfo', { domain: DOMAIN, ...NEWS });
    await operate('liveOperator.forbid', key);
    const domain = { account_id: key.account_id, domain_id: key.domain_id };
    const before = dataOf(await operate('liveOperator.getKeys', domain));
    const to = String(other.accountId);
    await operate('operator.transferDomain', { ...domain, to_account_id: to });
    const after = dataOf(await operate('liveOperator.getKeys', { ...domain, account_id: to }));
    assert.notDeepEqual(after, before);
    assert.deepEqual([(after['publish'] as string[]).length, after['play']], [1, []]);
    const kinds = async () =>
      (await api.db.query.selectFrom('resource').select('kind').where('deleted', '=', 0).orderBy('kind').execute()).map(
        ({ kind }) => kind,
      );
    assert.deepEqual(await kinds(), ['live_keys', 'live_mark', 'site']);
    await api.call('domain.delete', other.accessToken, { domain_id: key.domain_id });
    assert.deepEqual(await kinds(), []);
  });
});

test('addresses of a wildcard name a host under it, those of a domain with HTTPS are https, and RTMP that is off is left out', async (t) => {
  const { mine } = await startWithCustomers(t, newSqlite, { livePorts: { http: 80, https: 443 } });
  await add(mine, '*.live.example.com', { cdn_type: '4' });
  const ask = (host?: string) => mine('live.pushInfo', { domain: '*.live.example.com', ...NEWS, host });
  assert.equal((await ask()).errorCode, 'fieldMissing');
  for (const host of ['live.example.com', 'a.other.example.com', '*.live.example.com', 'no host'])
    assert.equal((await ask(host)).errorCode, 'liveHostInvalid', host);
  const { publish, play } = dataOf(await ask('A.live.example.com'));
  assert.deepEqual(publish, []);
  assert.deepEqual((play as { url: string }[])[0]?.url, 'http://a.live.example.com/live/news.flv');
});

test('the interface accepts the stream names that live processes accept', () => {
  const names = [
    'a',
    'A.b-c_1',
    'a'.repeat(64),
    'a'.repeat(65),
    'a'.repeat(128),
    'a'.repeat(129),
    '',
    '.a',
    'a/b',
    'a b',
    '中',
  ];
  const takes = (given: { app_name: string; stream_name: string }) =>
    decodeRequest(OPERATIONS['live.pushInfo'].request, { domain: DOMAIN, ...given }).kind === 'request';
  for (const name of names) {
    assert.equal(takes({ app_name: name, stream_name: 'a' }), isAppName(name), name);
    assert.equal(takes({ app_name: 'a', stream_name: name }), isStreamName(name), name);
  }
});

async function start(t: TestContext, newDatabase: NewDatabase) {
  const options: TestApiOptions = { livePorts: { http: 8080, https: 443, rtmp: 19350, rtmps: 443 } };
  const world = await startWithCustomers(t, newDatabase, options);
  const { api, me, mine } = world;
  const id = await add(mine, DOMAIN, { cdn_type: '4' });
  const report = (given: Partial<StoredReport>) =>
    api.db.transaction((trx) => recordLiveReport(trx, { edge: 'edge-1', epoch: 'e1', events: [], ...given }, api.now));
  return {
    ...world,
    key: { account_id: String(me.accountId), domain_id: id, ...NEWS },
    report,
    name: (stream: string, broadcast = 'b1') => ({ domainId: Number(id), app: 'live', stream, broadcast }),
    seconds: () => api.now / 1000,
  };
}

async function marksOf({ db }: Awaited<ReturnType<typeof startWithCustomers>>['api']): Promise<readonly unknown[]> {
  const rows = await db.query
    .selectFrom('resource')
    .select('body')
    .where('kind', '=', 'live_mark')
    .where('deleted', '=', 0)
    .execute();
  return rows.map(({ body }) => JSON.parse(body));
}
