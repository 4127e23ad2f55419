/** `Idempotency-Key` over HTTP on both engines: what was done once is not done again, and answered alike. docs/decisions/0631 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createClient } from '#client/client.ts';
import { ADDING } from '#contract/route-kinds.ts';
import { ROUTE_NAMES, ROUTES, type RouteName } from '#contract/routes.ts';
import { tidy } from '#feed/server/housekeeping.ts';
import { DAY_MS } from '#lib/durations.ts';
import type { Raw, TestApi } from '../support/api/api.ts';
import { startTestApi } from '../support/api/api.ts';
import { dataOf, SETTINGS, startWithCustomers } from '../support/api/customers.ts';
import { needsOf, prepareOperation } from '../support/api/prepared-operation.ts';
import { describeOnBothEngines, newSqlite } from '../support/db/databases.ts';

/** Calls an operation with a key. */
function withKey(api: TestApi, accessToken: string) {
  return (name: RouteName, key: string, request: Record<string, unknown>): Promise<Raw> =>
    api.post(
      ROUTES[name].path,
      { access_token: accessToken, ...request },
      { 'idempotency-key': key, 'accept-language': 'en' },
    );
}

const ADD = { ...SETTINGS, domain: 'a.example' };

describeOnBothEngines('calls with an Idempotency-Key', (newDatabase) => {
  test('a repetition gets the first answer, to the letter, and nothing is done twice', async (t) => {
    const { api, me } = await startWithCustomers(t, newDatabase);
    const call = withKey(api, me.accessToken);
    const first = await call('domain.add', 'k1', ADD);
    assert.deepEqual([first.errorCode, first.headers.get('idempotency-replayed')], [undefined, null]);
    api.now += 3_600_000;
    const { domain, ...rest } = ADD;
    for (const key of ['k1', '"k1"'])
      for (const body of [ADD, { ...rest, domain }]) {
        const again = await call('domain.add', key, body);
        assert.deepEqual([again.http, again.body], [first.http, first.body]);
        assert.equal(again.headers.get('idempotency-replayed'), '?1');
      }
    const { total } = dataOf(await api.call('domain.list', me.accessToken, {}));
    assert.equal(total, 1);
    api.now += DAY_MS - 3_600_000;
    assert.equal((await call('domain.add', 'k1', ADD)).errorCode, 'domainDuplicate', 'a day is over');
  });

  test('a key is of one account, operation, token and body', async (t) => {
    const { api, me, other } = await startWithCustomers(t, newDatabase);
    const call = withKey(api, me.accessToken);
    await call('domain.add', 'k1', ADD);
    assert.equal((await call('domain.add', 'k1', { ...ADD, domain: 'b.example' })).errorCode, 'idempotencyKeyReused');
    const second = await api.issue(me.accountId, { scopes: ['cdn'] });
    assert.equal((await withKey(api, second)('domain.add', 'k1', ADD)).errorCode, 'idempotencyKeyReused');
    const theirs = await withKey(api, other.accessToken)('domain.add', 'k1', { ...ADD, domain: 'theirs.example' });
    assert.equal(theirs.errorCode, undefined);
    assert.equal((await call('cache.purge', 'k1', { urls: 'http://a.example/' })).errorCode, undefined);
    const odd = ['', ' ', 'a b', 'x'.repeat(256), '"', 'k\u00e9y'];
    for (const key of odd)
      assert.equal((await call('domain.add', key, ADD)).errorCode, 'idempotencyKeyInvalid', JSON.stringify(key));
    assert.equal((await call('domain.add', 'x'.repeat(255), ADD)).errorCode, 'domainDuplicate');
    assert.equal((await call('domain.list', 'a b', {})).errorCode, undefined, 'what adds nothing does not look at it');
  });

  test('what was refused is not kept, and can be repeated with the same key', async (t) => {
    const { api, me } = await startWithCustomers(t, newDatabase, { limits: { purgeUrlsPerDay: 1 } });
    const call = withKey(api, me.accessToken);
    assert.equal((await call('cache.purge', 'k', { urls: 'http://a.example/' })).errorCode, 'hostNotFound');
    await call('domain.add', 'k', ADD);
    const done = await call('cache.purge', 'k', { urls: 'http://a.example/' });
    assert.equal(done.errorCode, undefined);
    assert.deepEqual(
      (await call('cache.purge', 'k', { urls: 'http://a.example/' })).body,
      done.body,
      'no quota is used',
    );
    assert.equal((await call('cache.purge', 'k2', { urls: 'http://a.example/' })).errorCode, 'purgeUrlLimit');
  });

  test('twenty concurrent calls with one key act once, and all get that answer', async (t) => {
    const { api, me } = await startWithCustomers(t, newDatabase);
    const call = withKey(api, me.accessToken);
    const request = { scopes: ['cdn'], label: 'once' };
    const answers = await Promise.all(Array.from({ length: 20 }, () => call('token.create', 'k', request)));
    assert.equal(new Set(answers.map(({ body }) => JSON.stringify(body))).size, 1);
    assert.equal(answers.filter(({ headers }) => headers.get('idempotency-replayed') === null).length, 1);
    const rows = await api.db.query.selectFrom('token').select('id').where('label', '=', 'once').execute();
    assert.equal(rows.length, 1);
    const secret = String(dataOf(answers[0] as Raw)['access_token']);
    const kept = await api.db.query.selectFrom('kept_answer').selectAll().execute();
    assert.equal(JSON.stringify(kept).includes(secret), false, 'a secret is sealed');
    assert.match(kept[0]?.answer ?? '', /^v1\./);
  });

  test('an act and its answer are one transaction: without the answer nothing was done', async (t) => {
    const { api, me, operate } = await startWithCustomers(t, newDatabase);
    // The answer cannot be stored: its table is gone when the transaction comes to it.
    const key = 'kept';
    await api.db.query.schema.alterTable('kept_answer').renameColumn('answer', 'hidden').execute();
    const failed = await withKey(api, me.accessToken)('domain.add', key, ADD);
    assert.equal(failed.errorCode, 'internal');
    await api.db.query.schema.alterTable('kept_answer').renameColumn('hidden', 'answer').execute();
    assert.equal(dataOf(await operate('operator.listDomains', {}))['total'], 0);
    assert.equal((await withKey(api, me.accessToken)('domain.add', key, ADD)).errorCode, undefined);
  });

  test('kept answers end after a day, survive a rotation of the key ring, and are limited', async (t) => {
    const { api, me, operate } = await startWithCustomers(t, newDatabase);
    const call = withKey(api, me.accessToken);
    const first = await call('domain.add', 'k', ADD);
    assert.equal((await operate('operator.rotateKeyring', {})).errorCode, undefined);
    assert.deepEqual((await call('domain.add', 'k', ADD)).body, first.body);
    const { account_id, request_hash, answer } = await api.db.query
      .selectFrom('kept_answer')
      .selectAll()
      .executeTakeFirstOrThrow();
    const many = Array.from({ length: 9_999 }, (_, n) => ({
      ...{ id: `filler ${n}`, account_id, request_hash, answer },
      made_at: api.now,
    }));
    for (let at = 0; at < many.length; at += 500)
      await api.db.query
        .insertInto('kept_answer')
        .values(many.slice(at, at + 500))
        .execute();
    assert.equal((await call('cache.purge', 'k', { urls: 'http://a.example/' })).errorCode, 'idempotencyKeyLimit');
    assert.deepEqual((await call('domain.add', 'k', ADD)).body, first.body, 'repetitions are answered');
    await tidy(api.db, api.now + DAY_MS);
    assert.deepEqual(await api.db.query.selectFrom('kept_answer').select('id').execute(), []);
  });
});

for (const name of ROUTE_NAMES.filter((known) => ADDING.has(known)))
  test(`${name} is done once with an Idempotency-Key, through the client`, needsOf(name), async (t) => {
    const api = await startTestApi(t, newSqlite);
    const { accessToken, request } = await prepareOperation(t, api, name);
    const client = createClient({ baseUrl: api.url, accessToken });
    const ask = () => client.call(name, request as never, { idempotencyKey: 'the-key' });
    const first = await ask();
    const before = await api.db.query.selectFrom('config_head').selectAll().execute();
    assert.deepEqual(await ask(), first);
    assert.deepEqual(await api.db.query.selectFrom('config_head').selectAll().execute(), before);
  });

test('operations whose names say that they add take an Idempotency-Key', () => {
  const adds = /\.(add|create|purge|prefetch|recharge)(?!OptOuts)/;
  assert.deepEqual(
    // A passkey answers a challenge, which is good once.
    ROUTE_NAMES.filter((name) => adds.test(name) && !ADDING.has(name) && name !== 'person.addPasskey'),
    [],
  );
});
