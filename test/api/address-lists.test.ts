/** Lists of addresses that domains share, over HTTP on both engines: limits, errors, and what edges get of them. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readConfigHead } from '#db/tables/resources.ts';
import { ADDRESS_LIST_KIND } from '#model/address-list.ts';
import type { TestApi } from '../support/api/api.ts';
import { add, dataOf, specOf, startWithCustomers } from '../support/api/customers.ts';
import { describeOnBothEngines } from '../support/db/databases.ts';

/** Lists that edges have, by their keys. */
async function published({ db }: TestApi): Promise<Record<string, unknown>> {
  const rows = await db.query
    .selectFrom('resource')
    .selectAll()
    .where('kind', '=', ADDRESS_LIST_KIND)
    .where('deleted', '=', 0)
    .execute();
  return Object.fromEntries(rows.map(({ key, body }) => [key, JSON.parse(body).entries]));
}

describeOnBothEngines('lists of addresses', (newDatabase) => {
  test('a list is set, read, replaced and deleted, and belongs to its account', async (t) => {
    const { mine, theirs } = await startWithCustomers(t, newDatabase);
    const set = (addresses: unknown) => mine('addressList.set', { name: 'office', addresses });
    assert.equal((await set('::FFFF:192.0.2.1, 192.0.2.1,2001:DB8::/32')).body['data'], true);
    const read = async () => dataOf(await mine('addressList.get', { name: 'office' }))['addresses'];
    assert.deepEqual(await read(), ['192.0.2.1', '2001:db8::/32']);
    assert.equal((await set(['192.0.2.77/24'])).body['data'], true);
    assert.deepEqual(await read(), ['192.0.2.0/24']);
    assert.partialDeepStrictEqual(dataOf(await mine('addressList.list', {})), {
      list: [{ name: 'office', addresses: 1, domains: [] }],
    });
    assert.deepEqual(dataOf(await theirs('addressList.list', {})), { list: [] });
    for (const name of ['addressList.get', 'addressList.delete'] as const)
      assert.equal((await theirs(name, { name: 'office' })).errorCode, 'addressListNotFound');
    assert.equal((await set('')).body['data'], true, 'a list may be empty');
    assert.equal((await mine('addressList.delete', { name: 'office' })).body['data'], true);
    assert.equal((await mine('addressList.delete', { name: 'office' })).errorCode, 'addressListNotFound');
  });

  test('each limit of a list has an error that names the field', async (t) => {
    const { mine } = await startWithCustomers(t, newDatabase);
    const rows: readonly (readonly [object, string, RegExp])[] = [
      [{ name: 'Office', addresses: '' }, 'fieldInvalid', /^field name is invalid: expected 1 to 64 lower-case/],
      [{ name: '-a', addresses: '' }, 'fieldInvalid', /^field name /],
      [{ addresses: '' }, 'fieldMissing', /^field name is missing/],
      [{ name: 'a' }, 'fieldMissing', /^field addresses is missing: expected at most 5000 IP addresses/],
      [{ name: 'a', addresses: '192.0.2.1,x' }, 'entryInvalid', /^field addresses\[1\] .*"x" is neither an IP/],
      [{ name: 'a', addresses: Array(5001).fill('192.0.2.1') }, 'fieldInvalid', /^field addresses /],
    ];
    for (const [request, code, info] of rows) {
      const answer = await mine('addressList.set', { ...request });
      assert.deepEqual(
        [answer.errorCode, info.test(String(answer.body['info']))],
        [code, true],
        String(answer.body['info']),
      );
    }
    const many = Array.from({ length: 5000 }, (_, i) => `10.${i >> 8}.${i & 255}.0/24`);
    assert.equal((await mine('addressList.set', { name: 'a', addresses: many })).body['data'], true);
    for (let n = 1; n < 50; n++) await mine('addressList.set', { name: `l${n}`, addresses: '192.0.2.1' });
    const answer = await mine('addressList.set', { name: 'z', addresses: '192.0.2.1' });
    assert.equal(answer.errorCode, 'addressListLimit');
    assert.equal((await mine('addressList.set', { name: 'a', addresses: '' })).body['data'], true, 'one that is there');
  });

  test('edges get a list while a domain uses it, and one item when it changes', async (t) => {
    const { api, me, mine } = await startWithCustomers(t, newDatabase);
    const [first, second] = [await add(mine, 'a.example'), await add(mine, 'b.example')];
    const use = async (id: string, lists: object) =>
      (await mine('config.setAddressLists', { domain_id: id, ...lists })).body['data'];
    const set = (name: string, addresses: string) => mine('addressList.set', { name, addresses });
    await set('bad', '192.0.2.1');
    await set('good', '2001:db8::/32');
    assert.deepEqual(await published(api), {});
    assert.equal(await use(first, { deny: 'bad', allow: ['good', 'good'] }), true);
    assert.equal(await use(second, { deny: 'bad' }), true);
    const key = (name: string) => `${me.accountId}/${name}`;
    assert.deepEqual(await published(api), { [key('bad')]: ['192.0.2.1'], [key('good')]: ['2001:db8::/32'] });
    assert.partialDeepStrictEqual(await specOf(api, 'a.example'), {
      access: { deniedLists: [key('bad')], allowedLists: [key('good')] },
    });
    assert.deepEqual(dataOf(await mine('config.getAddressLists', { domain_id: first }))['allow'], ['good']);
    const before = await readConfigHead(api.db.query);
    await set('bad', '198.51.100.0/24');
    assert.equal((await readConfigHead(api.db.query)).revision, before.revision + 1);
    const changed = await api.db.query
      .selectFrom('resource')
      .selectAll()
      .where('revision', '>', before.revision)
      .execute();
    assert.deepEqual(
      changed.map((row) => row.key),
      [key('bad')],
      'no site is published again',
    );
    const refused = await mine('addressList.delete', { name: 'bad' });
    assert.equal(refused.errorCode, 'addressListInUse');
    assert.match(String(refused.body['info']), /^address list bad is used by a\.example, b\.example and cannot/);
    assert.equal(await use(first, { deny: '' }), true);
    assert.deepEqual(dataOf(await mine('config.getAddressLists', { domain_id: first }))['allow'], ['good'], 'stays');
    assert.deepEqual(Object.keys(await published(api)).sort(), [key('bad'), key('good')]);
    await mine('domain.delete', { domain_id: second });
    assert.deepEqual(Object.keys(await published(api)), [key('good')]);
    assert.equal((await mine('addressList.delete', { name: 'bad' })).body['data'], true);
  });

  test('a domain uses lists of its account only, at most five of each, and none moves with it', async (t) => {
    const { me, other, mine, theirs, operate } = await startWithCustomers(t, newDatabase);
    const id = await add(mine, 'a.example');
    const use = (lists: object) => mine('config.setAddressLists', { domain_id: id, ...lists });
    await theirs('addressList.set', { name: 'theirs', addresses: '192.0.2.1' });
    await mine('addressList.set', { name: 'mine', addresses: '192.0.2.1' });
    const missing = await use({ deny: 'mine,theirs' });
    assert.equal(missing.errorCode, 'addressListNotFound');
    assert.match(String(missing.body['info']), /address list theirs does not exist/);
    assert.equal((await use({ deny: 'a,b,c,d,e,f' })).errorCode, 'fieldInvalid');
    assert.equal((await use({ allow: 'A' })).errorCode, 'fieldInvalid');
    assert.equal((await theirs('config.setAddressLists', { domain_id: id, deny: '' })).errorCode, 'domainNotFound');
    assert.equal((await use({ deny: 'mine', allow: 'mine' })).body['data'], true);
    const move = () =>
      operate('operator.transferDomain', { account_id: me.accountId, domain_id: id, to_account_id: other.accountId });
    assert.equal((await move()).errorCode, 'domainHasAddressLists');
    assert.equal((await use({ deny: [], allow: [] })).body['data'], true);
    assert.equal((await move()).body['data'], true);
  });
});
