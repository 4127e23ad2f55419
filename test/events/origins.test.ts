/** Origins in trouble, as edges report them, and the domains that they are for. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findSitesByOrigin } from '#db/tables/sites-by-origin.ts';
import { observeOrigins } from '#events/origins.ts';
import { add, startWithCustomers } from '../support/api/customers.ts';
import { describeOnBothEngines } from '../support/db/databases.ts';

describeOnBothEngines('origins that edges cannot reach', (newDatabase) => {
  test('a trouble is told for each domain with the origin, by its address, and to its account', async (t) => {
    const { api, operate } = await startWithCustomers(t, newDatabase);
    const [one, other] = [await api.join('customer', ['cdn']), await api.join('customer', ['cdn'])];
    const as =
      ({ accessToken }: { readonly accessToken: string }): Parameters<typeof add>[0] =>
      (name, request) =>
        api.call(name, accessToken, request);
    const origin = '192.0.2.1:8080';
    const first = await add(as(one), 'www.example.com', { data: `${origin}\n192.0.2.1` });
    const second = await add(as(other), 'static.example.net', {
      data: origin,
      monitor_url: 'http://static.example.net/up',
    });
    await add(as(other), 'third.example.net', { data: '192.0.2.1:8081' });
    const closed = await add(as(other), 'closed.example.net', { data: origin });
    const disabled = await operate('operator.setDomainStatus', {
      account_id: other.accountId,
      domain_id: closed,
      action: 'disable',
    });
    assert.equal(disabled.errorCode, undefined);
    const observer = observeOrigins(api.db, 1000);
    const seen = async () => {
      api.now += 120_000;
      await api.acknowledge('a', undefined, [], troubles);
      await api.acknowledge('b', undefined, [], troubles);
      return await observer.observe(api.now);
    };
    let troubles = [{ key: origin, state: 'down' as const }];
    const found = await seen();
    assert.deepEqual(
      found.map(({ key, accountId, target, data }) => [key, accountId, target.name, data]),
      [
        [`${first} ${origin}`, one.accountId, 'www.example.com', { origin, state: 'down', edges: 2, edge: 'a' }],
        [`${second} ${origin}`, other.accountId, 'static.example.net', { origin, state: 'down', edges: 2, edge: 'a' }],
      ],
    );
    troubles = [{ key: `${origin} http://static.example.net/up`, state: 'down' }];
    assert.deepEqual(
      (await seen()).map(({ target }) => target.name),
      ['static.example.net'],
    );
    troubles = [{ key: '192.0.2.9:80', state: 'down' }];
    assert.deepEqual(await seen(), []);
  });

  test('an account with thousands of domains on an origin hides those of no other', async (t) => {
    const { api, me, mine, theirs } = await startWithCustomers(t, newDatabase);
    const first = await add(mine, 'a.example', { data: '192.0.2.1' });
    const { id: _id, ...domain } = await api.db.query
      .selectFrom('domain')
      .selectAll()
      .where('id', '=', Number(first))
      .executeTakeFirstOrThrow();
    const site = await api.db.query
      .selectFrom('resource')
      .selectAll()
      .where('key', '=', domain.name)
      .executeTakeFirstOrThrow();
    for (let from = 0; from < 2000; from += 100) {
      const names = Array.from({ length: 100 }, (_, n) => `d${from + n}.example`);
      await api.db.query
        .insertInto('domain')
        .values(names.map((name) => ({ ...domain, name })))
        .execute();
      await api.db.query
        .insertInto('resource')
        .values(names.map((key) => ({ ...site, key })))
        .execute();
    }
    await add(theirs, 'theirs.example', { data: '192.0.2.1' });
    const found = await findSitesByOrigin(api.db.query, '192.0.2.1');
    assert.equal(found.length, 2000);
    assert.ok(found.some(({ accountId }) => accountId !== me.accountId));
  });
});
