/** The states of domains, their lists and their limit over HTTP, on both engines. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readConfigHead } from '#db/tables/resources.ts';
import { add, dataOf, SETTINGS, show, specOf, startWithCustomers } from '../support/api/customers.ts';
import { describeOnBothEngines } from '../support/db/databases.ts';

describeOnBothEngines('states and lists of domains', (newDatabase) => {
  test('domain_status 1 becomes 2 when every live edge, and at least one, has the change', async (t) => {
    const { api, mine } = await startWithCustomers(t, newDatabase);
    const id = await add(mine, 'a.example');
    const status = async () => (await show(mine, id))['domain_status'];
    assert.equal(await status(), 1, 'no edge');
    await api.acknowledge('one');
    assert.equal(await status(), 2);
    await api.acknowledge('two', 0);
    assert.equal(await status(), 1, 'the second edge has nothing yet');
    api.now += 20_000;
    await api.acknowledge('one');
    api.now += 15_000;
    assert.equal(await status(), 2, 'the second edge was silent for 30 s');
    await mine('domain.updateOrigin', { domain_id: id, data: 'b.example' });
    assert.equal(await status(), 1);
    await api.acknowledge('one', undefined, ['a.example']);
    assert.equal(await status(), 1, 'the edge refuses it');
    await api.acknowledge('one');
    assert.equal(await status(), 2);
    await mine('domain.setRemark', { domain_id: id, remark: 'no setting' });
    assert.deepEqual([await status(), (await show(mine, id))['remark']], [2, 'no setting']);
    await add(mine, 'b.example');
    assert.equal(await status(), 2, "another domain's change is not this one's");
    api.now += 31_000;
    assert.equal(await status(), 1, 'no edge is alive');
  });

  test('a name is found in any case and in Unicode, as it is stored in lower-case ASCII', async (t) => {
    const { mine } = await startWithCustomers(t, newDatabase);
    for (const name of ['www.例子.com', 'a.例子.com', 'plain.example']) await add(mine, name);
    const rows: readonly [string, number][] = [
      ['例子', 2],
      ['.例子.', 2],
      ['A.例子。COM', 1],
      ['xn--fsqu00a', 2],
      [' PLAIN ', 1],
      ['*.例子', 0],
      ['子', 0],
      ['', 3],
    ];
    for (const [name, total] of rows) assert.equal(dataOf(await mine('domain.list', { name }))['total'], total, name);
  });

  test('an edge does not stay alive for ever when a clock is set back by an hour', async (t) => {
    const { api, mine } = await startWithCustomers(t, newDatabase);
    await api.acknowledge('gone', 0);
    await api.acknowledge('one');
    api.now -= 3_600_000;
    const id = await add(mine, 'a.example');
    const status = async () => (await show(mine, id))['domain_status'];
    assert.equal(await status(), 1, 'no edge has reported since');
    await api.acknowledge('one');
    assert.equal(await status(), 2, 'the edge that is gone does not hold it back');
  });

  test('a customer closes and opens a domain; the edges hear of both', async (t) => {
    const { api, mine } = await startWithCustomers(t, newDatabase);
    const id = await add(mine, 'a.example');
    const set = (code: unknown) => mine('domain.setStatus', { domain_id: id, domain_status: code });
    assert.equal((await set('0')).body['data'], true);
    assert.deepEqual([(await show(mine, id))['domain_status'], (await show(mine, id))['status']], [0, 'being closed']);
    await api.acknowledge('one');
    assert.deepEqual([(await show(mine, id))['domain_status'], (await show(mine, id))['status']], [0, 'closed']);
    assert.match(JSON.stringify(await specOf(api, 'a.example')), /"state":"closed"/);
    const { revision } = await readConfigHead(api.db.query);
    assert.equal((await set(0)).body['data'], true, 'closing twice is no error');
    assert.equal((await readConfigHead(api.db.query)).revision, revision, 'and no change');
    await mine('domain.updateOrigin', { domain_id: id, data: 'b.example' });
    assert.equal((await show(mine, id))['domain_status'], 0, 'a change does not open it');
    assert.equal((await set(2)).body['data'], true);
    assert.equal((await show(mine, id))['domain_status'], 1);
    for (const code of [1, 5, 6, '00', -0.5]) assert.equal((await set(code)).errorCode, 'fieldInvalid');
  });

  test('a rejected domain is resubmitted by any change; a disabled one refuses changes', async (t) => {
    const { api, me, mine, operate } = await startWithCustomers(t, newDatabase);
    const id = await add(mine, 'a.example');
    const decide = (action: string) =>
      operate('operator.setDomainStatus', { account_id: me.accountId, domain_id: id, action });
    assert.equal((await decide('reject')).body['data'], true);
    assert.equal((await show(mine, id))['domain_status'], 5);
    assert.match(JSON.stringify(await specOf(api, 'a.example')), /"state":"rejected"/);
    assert.equal(
      (await mine('domain.setStatus', { domain_id: id, domain_status: 2 })).errorCode,
      'domainStatusRefused',
    );
    await mine('domain.updateOrigin', { domain_id: id, data: 'b.example' });
    assert.equal((await show(mine, id))['domain_status'], 1);
    assert.equal((await decide('disable')).body['data'], true);
    assert.equal((await show(mine, id))['domain_status'], 6);
    const before = (await readConfigHead(api.db.query)).revision;
    assert.equal((await mine('domain.updateOrigin', { domain_id: id, data: 'c.example' })).errorCode, 'domainDisabled');
    assert.equal((await mine('domain.delete', { domain_id: id })).errorCode, 'domainDisabled');
    assert.equal(
      (await mine('domain.setStatus', { domain_id: id, domain_status: 2 })).errorCode,
      'domainStatusRefused',
    );
    for (const action of ['reject', 'approve'])
      assert.equal((await decide(action)).errorCode, 'domainStatusRefused', action);
    const { body } = await decide('reject');
    assert.equal(
      body['info'],
      `domain ${id} is disabled (6); only a domain that is waiting for review (1) or in service (1, 2) can be rejected`,
    );
    assert.match(
      JSON.stringify(await decide('approve')),
      /only a domain that is waiting for review \(1\) or review rejected/,
    );
    assert.equal((await readConfigHead(api.db.query)).revision, before);
    assert.equal((await decide('enable')).body['data'], true);
    assert.deepEqual([(await show(mine, id))['domain_status'], (await show(mine, id))['origin']], [1, ['b.example']]);
  });

  test("lists of domains are paged, filtered by name and state, and show only the caller's own", async (t) => {
    const { api, mine, theirs } = await startWithCustomers(t, newDatabase);
    await add(theirs, 'foreign.example');
    for (let index = 0; index < 25; index += 1) await add(mine, `n${String(index).padStart(2, '0')}.example`);
    await api.acknowledge('one');
    const late = await add(mine, 'x-y.late.example');
    await mine('domain.setStatus', { domain_id: late, domain_status: 0 });
    await add(mine, 'new.example');
    const list = async (filter: Record<string, unknown>) => {
      const { total, list } = dataOf(await mine('domain.list', filter));
      assert.ok(Array.isArray(list));
      return { total, names: list.map((domain: Record<string, unknown>) => String(domain['domain_name'])), list };
    };
    assert.deepEqual((await list({})).names.length, 20);
    assert.deepEqual(await list({ page: 2 }).then(({ total, names }) => [total, names.length]), [27, 7]);
    assert.deepEqual((await list({ page: '3', page_size: '10' })).names.slice(0, 1), ['n20.example']);
    assert.deepEqual((await list({ page: 100 })).names, []);
    assert.deepEqual((await list({ name: 'N2' })).names.slice(0, 2), ['n20.example', 'n21.example']);
    assert.equal((await list({ name: '%' })).total, 0);
    assert.equal((await list({ name: '_' })).total, 0);
    assert.equal((await list({ domain_status: 2 })).total, 25);
    assert.deepEqual((await list({ domain_status: 1 })).names, ['new.example']);
    assert.deepEqual((await list({ domain_status: '0' })).names, ['x-y.late.example']);
    assert.equal((await list({ domain_status: 6 })).total, 0);
    const [first] = (await list({ domain_status: 2, page_size: 1 })).list;
    const { html_403: _page, ...shown } = await show(mine, String(first.domain_id));
    assert.deepEqual(first, shown, 'as the domain itself reads');
    for (const wrong of [{ page: 0 }, { page_size: 101 }, { page: 1.5 }, { page: '1e3' }, { domain_status: 3 }]) {
      assert.equal((await mine('domain.list', wrong)).errorCode, 'fieldInvalid', JSON.stringify(wrong));
    }
  });

  test('an account has a limited number of domains', async (t) => {
    const { mine, theirs } = await startWithCustomers(t, newDatabase, { limits: { domainsPerAccount: 2 } });
    const id = await add(mine, 'a.example');
    await add(mine, 'b.example');
    assert.equal((await mine('domain.add', { ...SETTINGS, domain: 'c.example' })).errorCode, 'domainLimit');
    await add(theirs, 'd.example');
    await mine('domain.delete', { domain_id: id });
    await add(mine, 'c.example');
  });
});
