/** Log files, their downloads, and statistics, over HTTP, on both engines. */
import assert from 'node:assert/strict';
import { truncateSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { loadOrMakeKeyring } from '#db/secrets/keyring.ts';
import { listLogParts } from '#db/tables/log-parts.ts';
import { key } from '#logs/store/blob-store.suite.ts';
import { localBlobStore } from '#logs/store/local.ts';
import { START, startTestApi } from '../support/api/api.ts';
import { describeOnBothEngines, type NewDatabase } from '../support/db/databases.ts';
import { createTestTraffic } from '../support/logs/traffic.ts';
import { temporaryFolder } from '../support/temporary.ts';

const DAY_MS = 24 * 3_600_000;
const MINUTE_MS = 60_000;

async function start(t: TestContext, newDatabase: NewDatabase) {
  const folder = temporaryFolder(t);
  const local = localBlobStore(join(folder, 'logs'));
  const reads: string[] = [];
  const blobs = {
    ...local,
    read: (...[key, span]: Parameters<typeof local.read>) => {
      reads.push(key);
      return local.read(key, span);
    },
  };
  const logs = { blobs, ring: loadOrMakeKeyring(join(folder, 'keyring')), hours: 24 };
  const api = await startTestApi(t, newDatabase, { logs });
  const customer = await api.join('customer', ['cdn']);
  const call = async (
    name: Parameters<typeof api.call>[0],
    request: Record<string, unknown>,
    token = customer.accessToken,
  ) => {
    const answer = await api.call(name, token, request);
    // `as`: what is looked at below is of these shapes, or the test fails.
    return {
      ...answer,
      data: answer.body['data'] as {
        list: Record<string, unknown>[];
        total: Record<string, unknown>;
        logfiles: Record<string, string>[];
        domain_id: string;
      },
    };
  };
  /** Long before anything that is asked about. */
  const add = async (domain: string, token?: string) => {
    api.now = START - 100 * DAY_MS;
    const id = await addNow(domain, token);
    api.now = START;
    return id;
  };
  const addNow = async (domain: string, token?: string) =>
    Number((await call('domain.add', { domain, cdn_type: 1, data: 'o.example.net' }, token)).data.domain_id);
  return { api, folder, blobs, reads, call, add, customer, traffic: createTestTraffic(t, api.db, blobs) };
}

/** Tells whether the other end cut the connection. */
const isCut = (error: unknown) => error instanceof TypeError;

const seconds = (at: number) => Math.floor(at / 1000);

describeOnBothEngines('logs and statistics', (newDatabase) => {
  test('log days are listed newest first, both ends included, for the last thirty days by default', async (t) => {
    const { call, add, traffic } = await start(t, newDatabase);
    const id = await add('www.example.com');
    for (const ago of [0, 1, 2, 30, 31, 60]) await traffic.addLines(id, START - ago * DAY_MS, [`${ago} days ago`]);
    const size = await traffic.addLines(id, START, ['and one more']);
    const days = async (request: Record<string, unknown>) => {
      const { data, body } = await call('log.list', { domain: 'WWW.example.com.', ...request });
      return data.logfiles?.map(({ logTime }) => logTime) ?? body['info'];
    };
    const [today, yesterday, before, thirty, over, sixty] = [
      '2026-01-31',
      '2026-01-30',
      '2026-01-29',
      '2026-01-01',
      '2025-12-31',
      '2025-12-02',
    ];
    assert.deepEqual(await days({}), [today, yesterday, before, thirty]);
    assert.deepEqual(await days({ starttime: '', endtime: '' }), [today, yesterday, before, thirty], 'as without');
    assert.deepEqual(await days({ starttime: String(seconds(START - DAY_MS)) }), [today, yesterday]);
    assert.deepEqual(await days({ starttime: START - DAY_MS, endtime: START - DAY_MS }), [yesterday]);
    assert.deepEqual(await days({ endtime: seconds(START - 2 * DAY_MS) }), [before, thirty, over]);
    assert.deepEqual(await days({ starttime: 0, endtime: seconds(START - 59 * DAY_MS) }), [sixty]);
    assert.equal(
      await days({ starttime: START, endtime: START - 1 }),
      'field starttime is invalid: expected a time that is not after endtime',
    );
    assert.match(
      String(await days({ starttime: '20260131' + '0000' })),
      /^field starttime is invalid: expected a Unix time/,
    );
    const reversed = await call('stat.top', { kind: 'url', starttime: START, endtime: START - 1 });
    assert.equal(reversed.errorCode, 'timeRangeReversed');
    assert.equal(
      (await call('log.list', { domain: 'www.example.com', starttime: START + 1 })).errorCode,
      'timeRangeReversed',
    );
    const { data } = await call('log.list', { domain: 'www.example.com', starttime: START, endtime: START });
    assert.ok(Number(data.logfiles[0]?.['size']) > size);
    assert.equal(data.logfiles[0]?.['name'], 'www.example.com_2026-01-31.log.gz');
  });

  test('a log file can be downloaded whole and in parts, until its address expires', async (t) => {
    const { api, call, add, traffic } = await start(t, newDatabase);
    const id = await add('*.example.com');
    await traffic.addLines(id, START - 3_600_000, ['one', 'two']);
    await traffic.addLines(id, START, ['three']);
    const { data } = await call('log.list', { domain: '.example.com' });
    const [file] = data.logfiles;
    const url = file?.['url'] ?? '';
    assert.ok(url.startsWith(`${api.url}/logs/`), url);
    const get = async (headers: Record<string, string> = {}, address = url, method = 'GET') => {
      const response = await fetch(address, { headers, method });
      return { status: response.status, headers: response.headers, body: Buffer.from(await response.arrayBuffer()) };
    };
    const whole = await get();
    assert.equal(whole.status, 200);
    assert.equal(gunzipSync(whole.body).toString(), 'one\ntwo\nthree\n');
    assert.equal(String(whole.body.length), file?.['size']);
    assert.equal(whole.headers.get('content-disposition'), 'attachment; filename="_.example.com_2026-01-31.log.gz"');
    assert.equal(whole.headers.get('x-content-type-options'), 'nosniff');
    assert.equal(whole.headers.get('content-type'), 'application/gzip');
    for (const [range, from, to] of [
      ['bytes=5-', 5, undefined],
      ['bytes=0-3', 0, 4],
      ['bytes=-7', -7, undefined],
    ] as const) {
      const part = await get({ range });
      assert.equal(part.status, 206);
      assert.ok(part.body.equals(whole.body.subarray(from, to)), range);
    }
    assert.equal((await get({ range: 'bytes=10-', 'if-range': '"x"' })).status, 200);
    const more = await get({ range: 'bytes=0-99999999' });
    assert.deepEqual([more.status, more.body.equals(whole.body)], [206, true]);
    const beyond = await get({ range: 'bytes=9999-' });
    assert.deepEqual([beyond.status, beyond.headers.get('content-range')], [416, `bytes */${whole.body.length}`]);
    assert.equal(beyond.headers.get('content-disposition'), null);
    const head = await get({ range: 'bytes=0-3' }, url, 'HEAD');
    assert.deepEqual([head.status, head.headers.get('content-length'), head.body.length], [200, file?.['size'], 0]);
    const code = async (address: string) => (await fetch(address)).headers.get('x-error-code');
    assert.equal(await code(url.replace('2026-01-31/', '2026-01-30/')), 'addressInvalid');
    assert.equal(await code(url.replace('/logs/', '/logs/x/')), 'pathUnknown');
    assert.equal(await code(`${api.url}/logs/..%2f..%2fetc/passwd`), 'pathUnknown');
    assert.equal((await fetch(url, { method: 'POST' })).headers.get('x-error-code'), 'methodNotAllowed');
    api.now += DAY_MS;
    assert.equal(await code(url), 'addressExpired');
  });

  test('a log that the storage cannot return is an error, or ends the connection within the file', async (t) => {
    const { api, folder, blobs, call, add, traffic, reads } = await start(t, newDatabase);
    const id = await add('www.example.com');
    await traffic.addLines(id, START - 3_600_000, ['one']);
    await traffic.addLines(id, START, ['two']);
    const url = (await call('log.list', { domain: 'www.example.com' })).data.logfiles[0]?.['url'] ?? '';
    const [first, second] = await listLogParts(api.db.query, id, '2026-01-31');
    assert.equal((await fetch(url, { method: 'HEAD' })).status, 200);
    assert.deepEqual(reads, [first?.key], 'HEAD only looks whether the first piece is there');
    const cut = join(folder, 'logs', second?.key ?? '');
    truncateSync(cut, 10);
    await assert.rejects(async () => (await fetch(url, { signal: AbortSignal.timeout(5_000) })).arrayBuffer(), isCut);
    await blobs.delete(key(second?.key ?? ''));
    await assert.rejects(async () => (await fetch(url)).arrayBuffer(), isCut);
    assert.equal((await fetch(url, { headers: { range: 'bytes=0-4' } })).status, 206);
    await blobs.delete(key(first?.key ?? ''));
    const gone = await fetch(url);
    assert.deepEqual([gone.status, gone.headers.get('x-error-code')], [404, 'logFileNotFound']);
    assert.equal(gone.headers.get('content-disposition'), null);
    assert.match(gone.headers.get('content-type') ?? '', /^application\/json/);
    assert.equal(((await gone.json()) as { status: number }).status, 0);
    blobs.read = () => Promise.reject(new Error('the storage is away'));
    const away = await fetch(url);
    assert.deepEqual([away.status, away.headers.get('x-error-code')], [500, 'internal']);
    assert.equal(away.headers.get('content-disposition'), null);
  });

  test('logs stay with the account that had the domain; others neither see nor download them', async (t) => {
    const { api, call, add, traffic, customer } = await start(t, newDatabase);
    const other = await api.join('customer', ['cdn']);
    const id = await add('www.example.com');
    await traffic.addLines(id, START, ['mine']);
    const names = async (token?: string) =>
      (await call('log.list', { domain: 'www.example.com' }, token)).data.logfiles?.map(({ name }) => name);
    assert.equal(
      (await call('log.list', { domain: 'www.example.com' }, other.accessToken)).errorCode,
      'domainNotFound',
    );
    await call('domain.delete', { domain_id: id });
    assert.deepEqual(await names(), ['www.example.com_2026-01-31.log.gz']);
    const second = await add('www.example.com', other.accessToken);
    assert.deepEqual(await names(other.accessToken), []);
    await traffic.addLines(second, START, ['yours']);
    assert.deepEqual(await names(other.accessToken), ['www.example.com_2026-01-31.log.gz']);
    assert.deepEqual(await names(), ['www.example.com_2026-01-31.log.gz']);
    await call('domain.delete', { domain_id: second }, other.accessToken);
    const third = await add('www.example.com');
    await traffic.addLines(third, START, ['mine again']);
    assert.deepEqual(await names(), ['www.example.com_2026-01-31.log.gz', `www.example.com_2026-01-31_${id}.log.gz`]);
    const { data } = await call('log.list', { domain: 'www.example.com' });
    const [, former] = data.logfiles;
    const text = gunzipSync(Buffer.from(await (await fetch(former?.['url'] ?? '')).arrayBuffer())).toString();
    assert.equal(text, 'mine\n');
    const operator = await api.join('operator', ['operator']);
    const transfer = { account_id: customer.accountId, domain_id: third, to_account_id: other.accountId };
    const [latest] = data.logfiles;
    assert.equal((await fetch(latest?.['url'] ?? '')).status, 200);
    assert.equal((await call('operator.transferDomain', transfer, operator.accessToken)).body['status'], 1);
    assert.equal((await fetch(latest?.['url'] ?? '')).headers.get('x-error-code'), 'logFileNotFound');
    await api.db.query.deleteFrom('log_part').where('domain_id', '=', id).execute();
    assert.equal((await fetch(former?.['url'] ?? '')).headers.get('x-error-code'), 'logFileNotFound');
    assert.ok(customer.accountId !== other.accountId);
  });

  test('traffic and requests are summed by minute, hour and day, without gaps', async (t) => {
    const { call, add, traffic, api } = await start(t, newDatabase);
    const a = await add('a.example.com');
    const b = await add('b.example.com');
    const counts = {
      requests: 4,
      hits: 3,
      bytesOut: 1000,
      hitBytes: 250,
      bytesIn: 40,
      bytesOrigin: 750,
      status2xx: 3,
      status5xx: 1,
    };
    await traffic.addCounts(a, START - MINUTE_MS, counts);
    await traffic.addCounts(a, START - 3 * MINUTE_MS, counts);
    await traffic.addCounts(b, START - MINUTE_MS, counts);
    const asked = { interval: 'minute', starttime: START - 3 * MINUTE_MS, endtime: START - 1 };
    const one = await call('stat.traffic', { domain: 'a.example.com', ...asked });
    const row = { bytes_out: 1000, bytes_in: 40, bytes_origin: 750, hit_bytes: 250, hit_ratio: 0.25 };
    const none = { bytes_out: 0, bytes_in: 0, bytes_origin: 0, hit_bytes: 0, hit_ratio: 0 };
    assert.deepEqual(one.data.list, [
      { time: seconds(START) - 180, ...row },
      { time: seconds(START) - 120, ...none },
      { time: seconds(START) - 60, ...row },
    ]);
    assert.deepEqual(one.data.total, { ...row, bytes_out: 2000, bytes_in: 80, bytes_origin: 1500, hit_bytes: 500 });
    const all = await call('stat.requests', { interval: 'day' });
    assert.equal(all.data.list.length, 31);
    const sums = { requests: 12, hits: 9, hit_ratio: 0.75, status_2xx: 9, status_3xx: 0, status_4xx: 0, status_5xx: 3 };
    assert.deepEqual(all.data.total, sums);
    assert.deepEqual(all.data.list.at(-1), { time: seconds(START) - 12 * 3600, ...sums });
    const hours = await call('stat.requests', {});
    assert.equal(hours.data.list.length, 25);
    assert.deepEqual(hours.data.total, sums);
    const other = await api.join('customer', ['cdn']);
    assert.equal((await call('stat.requests', {}, other.accessToken)).data.total['requests'], 0);
    const foreign = await call('stat.traffic', { domain: 'a.example.com' }, other.accessToken);
    assert.equal(foreign.errorCode, 'domainNotFound');
    const long = await call('stat.traffic', { interval: 'minute', starttime: START - 2 * DAY_MS });
    assert.equal(long.errorCode, 'timeRangeTooLong');
    assert.match(String(long.body['info']), /at most a day in one call/);
  });

  test('the most frequent values are listed, over hours and domains', async (t) => {
    const { call, add, traffic } = await start(t, newDatabase);
    const a = await add('a.example.com');
    const b = await add('b.example.com');
    await traffic.addTop(a, START - 3_600_000, 'url', '/x', 3);
    await traffic.addTop(a, START, 'url', '/x', 4);
    await traffic.addTop(b, START, 'url', '/y', 5);
    await traffic.addTop(a, START, 'client', '203.0.113.9', 7);
    const top = async (request: Record<string, unknown>) => (await call('stat.top', request)).data.list;
    const x = { value: '/x', requests: 7, bytes: 70 };
    assert.deepEqual(await top({ kind: 'url' }), [x, { value: '/y', requests: 5, bytes: 50 }]);
    assert.deepEqual(await top({ kind: 'url', limit: 1 }), [x]);
    assert.deepEqual(await top({ kind: 'url', domain: 'b.example.com' }), [{ value: '/y', requests: 5, bytes: 50 }]);
    assert.deepEqual(await top({ kind: 'url', domain: 'a.example.com', starttime: START }), [
      { ...x, requests: 4, bytes: 40 },
    ]);
    assert.deepEqual(await top({ kind: 'referer' }), []);
  });
});
