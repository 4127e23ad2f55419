/** Operators' operations on groups of edges, over HTTP on both engines. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { recordEdgeStatus } from '#db/tables/edges.ts';
import { enrolEdge } from '#db/tables/fleet/enrolled-edges.ts';
import { readConfigHead } from '#db/tables/resources.ts';
import type { EdgeVitals } from '#model/edge.ts';
import type { TestApi } from '../support/api/api.ts';
import { add, dataOf, show, startWithCustomers } from '../support/api/customers.ts';
import { describeOnBothEngines } from '../support/db/databases.ts';
import { READY } from '../support/feed/feed.ts';

describeOnBothEngines('groups of operators', (newDatabase) => {
  test('operators add groups, give them domains, and remove them', async (t) => {
    const { api, me, mine, operate } = await startWithCustomers(t, newDatabase);
    const id = await add(mine, 'a.example');
    const key = { account_id: me.accountId, domain_id: id };
    const code = async (...call: Parameters<typeof operate>) => (await operate(...call)).errorCode;
    assert.equal(await code('groupOperator.set', { name: 'eu', default: 0 }), undefined);
    assert.equal(await code('groupOperator.setDomain', { ...key, groups: 'eu,none' }), 'groupNotFound');
    assert.equal(await code('groupOperator.setDomain', { ...key, domain_id: 999, groups: 'eu' }), 'domainNotFound');
    assert.equal(await code('groupOperator.setDomain', { ...key, groups: 'eu,eu' }), undefined);
    assert.deepEqual(dataOf(await operate('groupOperator.getDomain', key)), { groups: ['eu'] });
    assert.deepEqual(dataOf(await operate('groupOperator.list', {}))['list'], [
      { name: 'default', default: '1', parent: '', domains: 0, edges: 0 },
      { name: 'eu', default: '0', parent: '', domains: 1, edges: 0 },
    ]);
    assert.equal(await code('groupOperator.remove', { name: 'eu' }), 'groupInUse');
    assert.equal(await code('groupOperator.remove', { name: 'default' }), 'groupLastDefault');
    assert.equal(await code('groupOperator.set', { name: 'default', default: 0 }), 'groupLastDefault');
    assert.equal(await code('groupOperator.setDomain', { ...key, groups: [] }), undefined);
    assert.equal(await code('groupOperator.remove', { name: 'eu' }), undefined);
    assert.equal(await code('groupOperator.remove', { name: 'eu' }), 'groupNotFound');
    assert.deepEqual(dataOf(await operate('groupOperator.getDomain', key)), { groups: [] });
    const rows = Array.from({ length: 255 }, (_, n) => ({ name: `g${n}`, is_default: 0, version: 1, created_at: 1 }));
    await api.db.query.insertInto('edge_group').values(rows).execute();
    assert.equal(await code('groupOperator.set', { name: 'eu', default: 0 }), 'groupLimit');
  });

  test('a group may have a parent, without circles and at most two above it', async (t) => {
    const { operate } = await startWithCustomers(t, newDatabase);
    const set = async (name: string, parent?: string) =>
      (
        await operate('groupOperator.set', {
          name,
          default: name === 'default' ? 1 : 0,
          ...(parent !== undefined && { parent }),
        })
      ).errorCode;
    const parents = async () => {
      const { list } = dataOf(await operate('groupOperator.list', {}));
      const groups = list as readonly { readonly name: string; readonly parent: string }[];
      return groups.map(({ name, parent }) => `${name}>${parent}`).join(' ');
    };
    for (const name of ['core', 'eu', 'shield']) assert.equal(await set(name), undefined);
    assert.equal(await set('eu', 'none'), 'groupNotFound');
    assert.equal(await set('eu', 'eu'), 'groupParent');
    assert.equal(await set('eu', 'core'), undefined);
    assert.equal(await set('core', 'eu'), 'groupParent');
    assert.equal(await set('core', 'shield'), undefined);
    assert.equal(await set('shield', 'default'), 'groupParent');
    assert.equal(await set('default', 'eu'), 'groupParent');
    assert.equal(await set('eu'), undefined);
    assert.equal(await parents(), 'core>shield default> eu>core shield>');
    assert.equal((await operate('groupOperator.remove', { name: 'core' })).errorCode, 'groupIsParent');
    assert.equal(await set('eu', ''), undefined);
    assert.equal((await operate('groupOperator.remove', { name: 'core' })).errorCode, undefined);
    assert.equal(await parents(), 'default> eu> shield>');
  });

  test('a domain is in force when the parents of its groups have it too, in answers and in filters', async (t) => {
    const { api, me, mine, operate } = await startWithCustomers(t, newDatabase);
    await operate('groupOperator.set', { name: 'core', default: 0 });
    await operate('groupOperator.set', { name: 'eu', default: 0, parent: 'core' });
    const id = await add(mine, 'eu.example');
    await operate('groupOperator.setDomain', { account_id: me.accountId, domain_id: id, groups: 'eu' });
    assert.deepEqual(dataOf(await operate('groupOperator.getDomain', { account_id: me.accountId, domain_id: id })), {
      groups: ['eu'],
    });
    const head = await readConfigHead(api.db.query);
    const report = async (edge: string, group: string, appliedRevision: number) => {
      const enrolment = { edge, group, labels: {}, machine: '', sealKey: '' };
      await api.db.transaction((trx) => enrolEdge(trx, enrolment, api.now));
      const at = { ...head, revision: appliedRevision };
      const rest = { rejected: [], build: 'b', startedAt: 1, origins: [], vitals: READY };
      await recordEdgeStatus(api.db.query, { edge, at, appliedRevision, ...rest }, api.now);
    };
    const status = async () => {
      const listed = dataOf(await mine('domain.list', { domain_status: 2 }))['list'] as readonly unknown[];
      return [(await show(mine, id))['domain_status'], listed.length];
    };
    await report('fra1', 'eu', head.revision);
    assert.deepEqual(await status(), [2, 1]);
    await report('par1', 'core', 0);
    assert.deepEqual(await status(), [1, 0]);
    await report('par1', 'core', head.revision);
    assert.deepEqual(await status(), [2, 1]);
  });

  test('a domain is in force when the edges of its groups have it, in answers and in filters', async (t) => {
    const { api, me, mine, operate } = await startWithCustomers(t, newDatabase);
    await operate('groupOperator.set', { name: 'eu', default: 0 });
    const own = await add(mine, 'eu.example');
    await operate('groupOperator.setDomain', { account_id: me.accountId, domain_id: own, groups: 'eu' });
    const other = await add(mine, 'other.example');
    const status = async (id: string) => (await show(mine, id))['domain_status'];
    const listed = async (domain_status: number) => {
      const { list } = dataOf(await mine('domain.list', { domain_status }));
      return (list as readonly { readonly domain_name: string }[]).map(({ domain_name }) => domain_name);
    };
    type State = EdgeVitals['state'];
    const table: readonly (readonly [
      edge: string,
      group: string | undefined,
      behind: number,
      ready: string[],
      state?: State,
    ])[] = [
      ['sin1', 'default', 0, ['other.example']],
      ['fra1', 'eu', 2, ['other.example']],
      ['fra1', 'eu', 1, ['eu.example', 'other.example']],
      ['sin1', 'default', 1, ['eu.example']],
      ['local', undefined, 1, ['eu.example']],
      ['local', undefined, 2, []],
      ['local', undefined, 0, ['eu.example']],
      ['sin1', 'default', 0, ['eu.example', 'other.example']],
      // Changes do not wait for an edge that is not ready, while another edge that serves the domain is.
      ['fra1', 'eu', 2, ['eu.example', 'other.example'], 'unhealthy'],
      ['local', undefined, 0, ['other.example'], 'unhealthy'],
      // Without a ready edge of its groups, a change waits for the others of them.
      ['fra1', 'eu', 0, ['eu.example', 'other.example'], 'unhealthy'],
    ];
    for (const [edge, group, behind, ready, state] of table) {
      await report(api, edge, group, behind, state);
      const name = `${edge} ${behind} behind`;
      assert.deepEqual(await listed(2), ready, name);
      assert.deepEqual((await listed(1)).length, 2 - ready.length, name);
      assert.equal(await status(own), ready.includes('eu.example') ? 2 : 1, name);
      assert.equal(await status(other), ready.includes('other.example') ? 2 : 1, name);
    }
  });

  test('an edge rejects only domains that its group serves', async (t) => {
    const { api, me, mine, operate } = await startWithCustomers(t, newDatabase);
    await operate('groupOperator.set', { name: 'eu', default: 0 });
    const own = await add(mine, 'eu.example');
    await operate('groupOperator.setDomain', { account_id: me.accountId, domain_id: own, groups: 'eu' });
    const other = await add(mine, 'other.example');
    await report(api, 'sin1', 'default', 0);
    await report(api, 'fra1', 'eu', 0, 'ready', ['eu.example', 'other.example', 'none.example']);
    const status = async (id: string) => (await show(mine, id))['domain_status'];
    assert.deepEqual([await status(own), await status(other)], [1, 2]);
    const { list } = dataOf(await mine('domain.list', { domain_status: 2 }));
    assert.deepEqual(
      (list as readonly { readonly domain_name: string }[]).map(({ domain_name }) => domain_name),
      ['other.example'],
    );
  });

  test('a purge waits only for edges that serve its domain', async (t) => {
    const { api, me, mine, operate } = await startWithCustomers(t, newDatabase);
    await operate('groupOperator.set', { name: 'eu', default: 0 });
    const id = await add(mine, 'eu.example');
    await operate('groupOperator.setDomain', { account_id: me.accountId, domain_id: id, groups: 'eu' });
    const { task_id } = dataOf(await mine('cache.purge', { domain_id: id }));
    const state = async () => dataOf(await mine('cache.getTask', { task_id }));
    await report(api, 'sin1', 'default', 1);
    await report(api, 'fra1', 'eu', 1);
    assert.equal((await state())['state'], 'running');
    await report(api, 'fra1', 'eu', 1, 'unhealthy');
    assert.equal((await state())['state'], 'running', 'it is the only edge that serves the domain');
    await report(api, 'fra2', 'eu', 0);
    assert.equal((await state())['state'], 'done', 'the other one of its group is ready');
    await report(api, 'fra2', 'eu', 0, 'draining');
    assert.equal((await state())['state'], 'running');
    await report(api, 'fra1', 'eu', 0);
    const done = await state();
    assert.equal(done['state'], 'done');
    assert.deepEqual(
      (done['edges'] as readonly { readonly edge: string }[]).map(({ edge }) => edge),
      ['fra1', 'fra2'],
    );
  });
});

/** Reports as an edge of the group, or of control's machine, that is so many revisions behind. */
async function report(
  { db, now }: TestApi,
  edge: string,
  group: string | undefined,
  behind: number,
  state: EdgeVitals['state'] = 'ready',
  rejectedNames: readonly string[] = [],
): Promise<void> {
  if (group !== undefined) await enrolEdge(db.query, { edge, group, labels: {}, machine: '', sealKey: '' }, now);
  const at = await readConfigHead(db.query);
  const appliedRevision = at.revision - behind;
  const rejected = rejectedNames.map((key) => ({ kind: 'site', key, revision: 1, error: 'no' }));
  const status = {
    edge,
    at,
    appliedRevision,
    rejected,
    build: 'b',
    startedAt: 5,
    origins: [],
    vitals: { ...READY, state },
  };
  await recordEdgeStatus(db.query, status, now);
}
