/** Operators' operations on sinks of log lines, over HTTP on both engines. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { rotateKeyring } from '#db/rotation/sealed-secrets.ts';
import { recordEdgeStatus } from '#db/tables/edges.ts';
import { listLineSinks } from '#db/tables/line-sinks.ts';
import { acceptPut } from '#feed/client/accept.ts';
import { createUnsealBody } from '#feed/publish/open-secrets.ts';
import type { SinkPost } from '#logs/sinks/post.ts';
import type { EdgeVitals } from '#model/edge.ts';
import { SINK_FIELDS } from '#model/line-sink.ts';
import { dataOf, startWithCustomers } from '../support/api/customers.ts';
import { describeOnBothEngines } from '../support/db/databases.ts';
import { READY, silentLog } from '../support/feed/feed.ts';

const SECRET = 'Bearer 4f9c-very-secret';
const SINK = { name: 'vector', url: 'https://logs.example/in', headers: [`Authorization: ${SECRET}`, 'X-Tenant: a'] };

describeOnBothEngines('sinks of operators', (newDatabase) => {
  test('a sink is set, listed without its secrets, changed and removed; edges get it by the feed', async (t) => {
    const { api, mine, operate } = await startWithCustomers(t, newDatabase);
    const list = async () => dataOf(await operate('sinkOperator.list', {}))['list'] as Record<string, unknown>[];
    const rowOf = async () =>
      await api.db.query.selectFrom('resource').selectAll().where('kind', '=', 'sink').executeTakeFirstOrThrow();
    assert.equal((await operate('sinkOperator.set', SINK)).body['data'], true);
    const whole = {
      ...{ name: 'vector', url: SINK.url, headers: ['Authorization', 'X-Tenant'], fields: [...SINK_FIELDS] },
      ...{ sample_percent: 100, domain_ids: [], max_bytes: 1_048_576, max_records: 5_000, max_seconds: 5 },
      troubles: [],
    };
    assert.deepEqual(await list(), [whole]);
    const row = await rowOf();
    assert.ok(!row.body.includes('logs.example') && !row.body.includes('4f9c'), 'it is sealed as a whole');
    const body = createUnsealBody(api.ring, silentLog)({ ...row, isDeleted: false });
    const accepted = acceptPut({ kind: 'sink', key: 'vector', revision: 1, op: 'put', body: JSON.parse(body) });
    assert.equal(accepted.kind, 'put');
    assert.ok(body.includes(SECRET));
    const change = { name: 'vector', url: SINK.url, fields: ['status', 'time'], domain_ids: '7,9', sample_percent: 10 };
    await operate('sinkOperator.set', { ...change, max_records: 10, max_bytes: 2048, max_seconds: 1 });
    const [changed] = await list();
    assert.deepEqual(changed, {
      ...{ ...whole, fields: ['status', 'time'], domain_ids: ['7', '9'], sample_percent: 10 },
      ...{ max_records: 10, max_bytes: 2048, max_seconds: 1 },
    });
    await rotateKeyring(api.db, api.ring);
    const [kept] = await listLineSinks(api.db.query, api.ring);
    assert.equal(kept?.sink?.headers[0]?.value, SECRET, 'header fields that are not given stay');
    for (const url of ['http://logs.example/in', 'https://logs.example:444/in', 'https://evil.example/in'])
      assert.equal((await operate('sinkOperator.set', { name: 'vector', url })).errorCode, 'sinkHeadersKept', url);
    await operate('sinkOperator.set', { name: 'vector', url: 'https://LOGS.example:443/other' });
    assert.deepEqual(
      (await list())[0]?.['headers'],
      ['Authorization', 'X-Tenant'],
      'another path of the same receiver',
    );
    await operate('sinkOperator.set', { name: 'vector', url: 'https://new.example/in', headers: ['X-Tenant: b'] });
    const [moved] = await listLineSinks(api.db.query, api.ring);
    assert.deepEqual(moved?.sink?.headers, [{ name: 'X-Tenant', value: 'b' }]);
    await operate('sinkOperator.set', { name: 'vector', url: SINK.url, headers: '' });
    assert.deepEqual((await list())[0]?.['headers'], []);
    assert.equal((await operate('sinkOperator.remove', { name: 'vector' })).body['data'], true);
    assert.deepEqual([await list(), (await rowOf()).deleted], [[], 1]);
    for (const name of ['sinkOperator.remove', 'sinkOperator.test'] as const)
      assert.equal((await operate(name, { name: 'vector' })).errorCode, 'sinkNotFound');
    assert.equal((await mine('sinkOperator.list', {})).http, 404);
    await operate('sinkOperator.set', SINK);
    const sealed = JSON.stringify({ sealed: 'v1.0123456789abcdef.AAAA' }); // with a key that the ring does not have
    await api.db.query.updateTable('resource').set({ body: sealed }).where('kind', '=', 'sink').execute();
    assert.deepEqual(
      (await list()).map(({ name, url }) => [name, url]),
      [['vector', '']],
    );
    assert.equal((await operate('sinkOperator.test', { name: 'vector' })).errorCode, 'sinkLocked');
  });

  test('a ninth sink is refused, and an invalid one by its field, without a secret', async (t) => {
    const { operate } = await startWithCustomers(t, newDatabase);
    for (let n = 1; n <= 8; n++) await operate('sinkOperator.set', { name: `s${n}`, url: SINK.url });
    const code = async (request: object) => (await operate('sinkOperator.set', { ...request })).errorCode;
    assert.equal(await code(SINK), 'sinkLimit');
    assert.equal(await code({ name: 's8', url: 'http://192.0.2.1/' }), undefined);
    const wrong: readonly [string, object][] = [
      ['name', { name: 'Vector' }],
      ['name', { name: '-a' }],
      ['url', { url: 'ftp://logs.example/' }],
      ['url', { url: 'https://user@logs.example/' }],
      ['headers', { headers: ['Host: other.example'] }],
      ['headers', { headers: [`Authorization ${SECRET}`] }],
      ['headers', { headers: Array.from({ length: 17 }, (_, n) => `X-${n}: a`) }],
      ['fields', { fields: ['password'] }],
      ['sample_percent', { sample_percent: 0 }],
      ['domain_ids', { domain_ids: [0] }],
      ['max_bytes', { max_bytes: 1 }],
      ['max_records', { max_records: 50_001 }],
      ['max_seconds', { max_seconds: 61 }],
    ];
    for (const [field, change] of wrong) {
      const { errorCode, body } = await operate('sinkOperator.set', { ...SINK, name: 's1', ...change });
      assert.equal(errorCode, 'fieldInvalid', JSON.stringify(change));
      assert.match(String(body['info']), new RegExp(`\\b${field}\\b`));
      assert.ok(!String(body['info']).includes(SECRET));
    }
    assert.equal(await code({ name: 's1' }), 'fieldMissing');
  });

  test('a test posts one record from control as edges do, and shows the answer; edges tell their troubles', async (t) => {
    const posts: SinkPost[] = [];
    const answers = [
      { kind: 'answered', status: 403, body: 'who are you?' },
      { kind: 'failed', reason: 'timeout' },
    ] as const;
    const { api, operate } = await startWithCustomers(t, newDatabase, {
      postToSink: async (post) => {
        posts.push(post);
        return answers[posts.length - 1] ?? assert.fail();
      },
    });
    await operate('sinkOperator.set', { ...SINK, fields: ['edge', 'domain_id', 'host', 'time'], domain_ids: [7] });
    const ask = async () => dataOf(await operate('sinkOperator.test', { name: 'vector' }));
    assert.deepEqual(await ask(), { status: 403, reason: '', took_ms: 0, answer: 'who are you?' });
    assert.deepEqual(await ask(), { status: 0, reason: 'timeout', took_ms: 0, answer: '' });
    const [post = assert.fail()] = posts;
    assert.equal(post.url, SINK.url);
    assert.deepEqual(
      [post.headers['Authorization'], post.headers['content-encoding'], post.headers['x-causeway-records']],
      [SECRET, 'gzip', '1'],
    );
    assert.deepEqual(JSON.parse(gunzipSync(post.body).toString()), {
      ...{ edge: 'control', domain_id: 0, host: 'test.invalid' },
      time: '2026-01-31T12:00:00.000+08:00',
    });
    const vitals: EdgeVitals = { ...READY, sinks: [{ sink: 'vector', state: 'failing', reason: '403' }] };
    const at = { epoch: 'e', revision: 0, tag: 't' };
    const status = {
      edge: 'fra1',
      at,
      appliedRevision: 0,
      rejected: [],
      build: 'b',
      startedAt: 1,
      origins: [],
      vitals,
    };
    await recordEdgeStatus(api.db.query, status, api.now);
    const list = dataOf(await operate('sinkOperator.list', {}))['list'] as Record<string, unknown>[];
    assert.deepEqual(list[0]?.['troubles'], [{ edge_id: 'fra1', state: 'failing', reason: '403' }]);
  });
});
