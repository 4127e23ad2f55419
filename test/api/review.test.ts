/** The operator's review of domains over HTTP, on both engines: waiting domains, decisions, and when edges get them. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readConfigHead } from '#db/tables/resources.ts';
import { add, dataOf, show, specOf, startWithCustomers } from '../support/api/customers.ts';
import { describeOnBothEngines, type NewDatabase } from '../support/db/databases.ts';
import type { Cleanup } from '../support/temporary.ts';

describeOnBothEngines('review', (newDatabase) => {
  test('a new domain waits, is listed as waiting, and is sent to edges when it is approved', async (t) => {
    const { api, mine, decide, waiting } = await startReviewed(t, newDatabase);
    const id = await add(mine, 'a.example');
    await api.acknowledge('edge');
    const { domain_status, status } = await show(mine, id);
    assert.deepEqual([domain_status, status], [1, 'waiting for review'], 'also where every edge has everything');
    assert.equal(await specOf(api, 'a.example'), undefined);
    await mine('domain.updateOrigin', { domain_id: id, data: 'b.example' });
    assert.deepEqual(await waiting(), [id], 'a change does not open it');
    const closing = await mine('domain.setStatus', { domain_id: id, domain_status: 0 });
    assert.equal(closing.errorCode, 'domainStatusRefused', 'or closing and opening would go round the review');
    assert.equal((await decide(id, 'approve')).body['data'], true);
    assert.deepEqual([await waiting(), (await show(mine, id))['status']], [[], 'being configured']);
    assert.match(JSON.stringify(await specOf(api, 'a.example')), /"state":"open".*b\.example/);
    const { revision } = await readConfigHead(api.db.query);
    assert.equal((await decide(id, 'approve')).body['data'], true, 'approving twice is no error');
    assert.equal((await readConfigHead(api.db.query)).revision, revision, 'and no change');
  });

  test('an approved domain needs no review after a change', async (t) => {
    const { api, mine, decide, waiting } = await startReviewed(t, newDatabase);
    const id = await add(mine, 'a.example');
    await decide(id, 'approve');
    await mine('domain.updateOrigin', { domain_id: id, data: 'c.example' });
    await mine('domain.setStatus', { domain_id: id, domain_status: 0 });
    await mine('config.setCacheOptions', { domain_id: id, stale_cap: 1 });
    await mine('domain.setStatus', { domain_id: id, domain_status: 2 });
    assert.deepEqual(await waiting(), []);
    assert.match(JSON.stringify(await specOf(api, 'a.example')), /"state":"open"/);
  });

  test('a rejected domain waits again after its next change, and not before', async (t) => {
    const { api, mine, decide, waiting } = await startReviewed(t, newDatabase);
    const id = await add(mine, 'a.example');
    assert.equal((await decide(id, 'reject')).body['data'], true);
    assert.deepEqual([(await show(mine, id))['domain_status'], await waiting()], [5, []]);
    await mine('domain.setRemark', { domain_id: id, remark: 'please' });
    assert.equal((await mine('config.setCacheOptions', { domain_id: id, stale_cap: -1 })).errorCode, 'fieldInvalid');
    assert.equal((await show(mine, id))['domain_status'], 5, 'neither a remark nor what was refused is a change');
    await mine('config.setCacheOptions', { domain_id: id, stale_cap: 5 });
    assert.deepEqual([(await show(mine, id))['domain_status'], await waiting()], [1, [id]]);
    assert.equal(await specOf(api, 'a.example'), undefined, 'edges do not have it meanwhile');
    await decide(id, 'approve');
    assert.match(JSON.stringify(await specOf(api, 'a.example')), /"state":"open"/);
  });

  test('an operator approves a domain after rejecting it', async (t) => {
    const { api, mine, decide, waiting } = await startReviewed(t, newDatabase);
    const id = await add(mine, 'a.example');
    await decide(id, 'reject');
    assert.equal((await decide(id, 'approve')).body['data'], true);
    assert.deepEqual([(await show(mine, id))['domain_status'], await waiting()], [1, []]);
    assert.match(JSON.stringify(await specOf(api, 'a.example')), /"state":"open"/);
  });

  test('disabling takes a waiting domain out, and enabling approves it', async (t) => {
    const { api, mine, decide, waiting } = await startReviewed(t, newDatabase);
    const id = await add(mine, 'a.example');
    await decide(id, 'disable');
    assert.deepEqual([(await show(mine, id))['domain_status'], await waiting()], [6, []]);
    assert.match(JSON.stringify(await specOf(api, 'a.example')), /"state":"disabled"/);
    assert.equal((await decide(id, 'approve')).errorCode, 'domainStatusRefused', 'that is for another word to say');
    await decide(id, 'enable');
    assert.match(JSON.stringify(await specOf(api, 'a.example')), /"state":"open"/);
  });

  test('a waiting domain reserves its name, and can be deleted', async (t) => {
    const { api, mine, theirs } = await startReviewed(t, newDatabase);
    const id = await add(mine, 'a.example');
    const taken = await theirs('domain.add', { domain: 'a.example', cdn_type: 1, data: 'o.example' });
    assert.equal(taken.errorCode, 'domainNameTaken');
    assert.equal((await mine('domain.delete', { domain_id: id })).body['data'], true);
    await add(theirs, 'a.example');
    assert.equal(await specOf(api, 'a.example'), undefined);
  });

  test('the filter for waiting domains combines with the other filters', async (t) => {
    const { me, mine, theirs, operate, decide } = await startReviewed(t, newDatabase);
    const approved = await add(mine, 'a.example');
    await decide(approved, 'approve');
    const ids = [await add(mine, 'b.example'), await add(theirs, 'c.example')];
    const rows: readonly [Record<string, unknown>, readonly unknown[]][] = [
      [{ pending: 1 }, ids],
      [{ pending: '1', domain_status: 1 }, ids],
      [{ pending: 1, domain_status: 2 }, []],
      [{ pending: 1, account_id: me.accountId }, ids.slice(0, 1)],
      [{ pending: 1, name: 'c.' }, ids.slice(1)],
      [{ pending: 0 }, [approved, ...ids]],
    ];
    for (const [filter, expected] of rows)
      assert.deepEqual(idsOf(await operate('operator.listDomains', filter)), expected, JSON.stringify(filter));
  });
});

async function startReviewed(t: Cleanup, newDatabase: NewDatabase) {
  const customers = await startWithCustomers(t, newDatabase, { review: 'manual' });
  const { me, operate } = customers;
  return {
    ...customers,
    /** Decides about the first customer's domain. */
    decide: (id: string, action: string) =>
      operate('operator.setDomainStatus', { account_id: me.accountId, domain_id: id, action }),
    waiting: async () => idsOf(await operate('operator.listDomains', { pending: 1 })),
  };
}

function idsOf(answer: Parameters<typeof dataOf>[0]): unknown[] {
  const { list } = dataOf(answer);
  assert.ok(Array.isArray(list));
  return list.map((domain: Record<string, unknown>) => domain['domain_id']);
}
