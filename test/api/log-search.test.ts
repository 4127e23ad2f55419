/** Searching logs over HTTP, on both engines: real files in a real store. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { loadOrMakeKeyring } from '#db/secrets/keyring.ts';
import type { BlobStore } from '#logs/store/blob-store.ts';
import { localBlobStore } from '#logs/store/local.ts';
import { START } from '../support/api/api.ts';
import { add, dataOf, startWithCustomers } from '../support/api/customers.ts';
import { describeOnBothEngines, newSqlite } from '../support/db/databases.ts';
import { createTestTraffic } from '../support/logs/traffic.ts';
import { temporaryFolder } from '../support/temporary.ts';

const HOUR_MS = 3_600_000;

const TIME = '2026-01-31T12:00:00.123+08:00';

function line(target: string, status = 200, client = '203.0.113.9', code = 'TCP_HIT', time = TIME): string {
  const counts = [client, time, 15, 412, 20_931].join('\t');
  return `${counts}\twww.example.com\tGET\t${target}\tHTTP/1.1\t${code}/${status}\timage/jpeg\t-\tcurl/8.0`;
}

function logsIn(folder: string, blobs: BlobStore) {
  return { logs: { blobs, ring: loadOrMakeKeyring(join(folder, 'keyring')), hours: 24 } };
}

describeOnBothEngines('searches of logs', (newDatabase) => {
  test('lines that match are found, those of the last file first, and none that is older than a day', async (t) => {
    const folder = temporaryFolder(t);
    const blobs = localBlobStore(join(folder, 'logs'));
    const { api, mine, theirs } = await startWithCustomers(t, newDatabase, logsIn(folder, blobs));
    const id = await add(mine, 'www.example.com');
    const other = await add(mine, 'other.example');
    const traffic = createTestTraffic(t, api.db, blobs);
    api.now = START + 30 * HOUR_MS;
    await traffic.addLines(Number(id), START, [line('/old')]);
    await traffic.addLines(Number(id), api.now - 7 * HOUR_MS, [line('/a'), line('/b', 502, '192.0.2.7', 'NONE')]);
    await traffic.addLines(Number(id), api.now - HOUR_MS, [line('/c', 404), line('/d')]);
    await traffic.addLines(Number(other), api.now, [line('/other')]);
    const search = async (request: object) => {
      const data = dataOf(await mine('log.search', { domain_id: id, ...request }));
      const targets = Object.values(Object(data['list'])).map((found) => Object(found).target);
      return { ...data, targets };
    };
    assert.deepEqual((await search({})).targets, ['/d', '/c', '/b', '/a']);
    for (const [filter, expected] of [
      ['status=4xx,502', ['/c', '/b']],
      ['client=192.0.2.0/24', ['/b']],
      ['path=/d cache=hit', ['/d']],
      ['edge=edge-1', ['/d', '/c', '/b', '/a']],
      ['edge=edge-2', []],
      ['method=POST', []],
    ] as const)
      assert.deepEqual((await search({ filter })).targets, expected, filter);
    const first = dataOf(await mine('log.search', { domain_id: id, filter: 'path=/b' }));
    assert.deepEqual(Object(first['list'])[0], {
      edge: 'edge-1',
      client: '192.0.2.7',
      time: '2026-01-31T12:00:00.123+08:00',
      duration_ms: 15,
      request_bytes: 412,
      response_bytes: 20_931,
      host: 'www.example.com',
      method: 'GET',
      target: '/b',
      protocol: 'HTTP/1.1',
      cache: 'NONE',
      status: 502,
      content_type: 'image/jpeg',
      referer: '-',
      user_agent: 'curl/8.0',
    });
    const page = await search({ limit: 1 });
    assert.deepEqual([page.targets, Object(page)['cut']], [['/d'], '1']);
    const next = await search({ after: Object(page)['next'] });
    assert.deepEqual([next.targets, Object(next)['next'], Object(next)['cut']], [['/b', '/a'], '', '0']);
    assert.equal((await theirs('log.search', { domain_id: id })).errorCode, 'domainNotFound');
    for (const [request, field] of [
      [{ filter: 'status=9' }, 'filter\\[status\\]'],
      [{ filter: 'x' }, 'filter'],
      [{ after: '1' }, 'after'],
      [{ limit: 201 }, 'limit'],
    ] as const) {
      const { errorCode, body } = await mine('log.search', { domain_id: id, ...request });
      assert.equal(errorCode, 'fieldInvalid');
      assert.match(String(body['info']), new RegExp(`field ${field} `));
    }
  });

  test('a time that is asked for leaves out what ended before or after it', async (t) => {
    const folder = temporaryFolder(t);
    const blobs = localBlobStore(join(folder, 'logs'));
    const { api, mine } = await startWithCustomers(t, newDatabase, logsIn(folder, blobs));
    const id = await add(mine, 'www.example.com');
    const traffic = createTestTraffic(t, api.db, blobs);
    api.now = START + 24 * HOUR_MS;
    const [early, late] = [api.now - 3 * HOUR_MS, api.now - HOUR_MS];
    for (const at of [early, late, late + 60_000]) {
      const ended = line(`/${at}`, 200, '203.0.113.9', 'TCP_HIT', new Date(at).toISOString());
      await traffic.addLines(Number(id), at, [ended]);
    }
    const timesOf = async (range: { readonly starttime?: number; readonly endtime?: number }) => {
      const { list, next } = dataOf(await mine('log.search', { domain_id: id, ...range }));
      assert.equal(next, '');
      return Object.values(Object(list)).map((found) => Number(Object(found).target.slice(1)));
    };
    assert.deepEqual(await timesOf({ starttime: late }), [late + 60_000, late]);
    assert.deepEqual(await timesOf({ endtime: late }), [late, early]);
    assert.deepEqual(await timesOf({ starttime: early + 1000, endtime: late }), [late]);
    assert.deepEqual(await timesOf({ endtime: early - 1000 }), []);
    const { errorCode } = await mine('log.search', { domain_id: id, starttime: late, endtime: early });
    assert.equal(errorCode, 'timeRangeReversed');
  });
});

test('one search of an account runs at once, and a file that is gone or damaged is said to be cut', async (t) => {
  const folder = temporaryFolder(t);
  const local = localBlobStore(join(folder, 'logs'));
  const gate = Promise.withResolvers<void>();
  let isHeld = true;
  const blobs: typeof local = {
    ...local,
    read: async (key, span) => {
      if (isHeld) await gate.promise;
      return await local.read(key, span);
    },
  };
  const { api, mine, theirs } = await startWithCustomers(t, newSqlite, logsIn(folder, blobs));
  const id = await add(mine, 'www.example.com');
  const foreign = await add(theirs, 'foreign.example');
  const traffic = createTestTraffic(t, api.db, local);
  await traffic.addLines(Number(id), api.now, [line('/a')]);
  const running = mine('log.search', { domain_id: id });
  const refused = await mine('log.search', { domain_id: id });
  assert.deepEqual([refused.http, refused.errorCode], [429, 'searchesFull']);
  assert.equal(
    (await theirs('log.search', { domain_id: foreign })).errorCode,
    undefined,
    'another account has its own',
  );
  isHeld = false;
  gate.resolve();
  assert.equal(Object(dataOf(await running)['list']).length, 1);
  const [{ key } = { key: '' }] = await api.db.query.selectFrom('log_part').select('key').execute();
  await local.put(key as Parameters<typeof local.put>[0], Buffer.from('no gzip')); // the key of a part
  const damaged = dataOf(await mine('log.search', { domain_id: id }));
  assert.deepEqual([damaged['list'], damaged['cut'], damaged['next']], [[], '1', '']);
});
