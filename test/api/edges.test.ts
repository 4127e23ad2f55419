/** Operators' operations on edges, over HTTP on both engines. */
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

async function report({ db, now }: TestApi, edge: string, vitals: Partial<EdgeVitals> = {}): Promise<void> {
  const head = await readConfigHead(db.query);
  const status = {
    edge,
    at: head,
    appliedRevision: head.revision,
    rejected: [],
    build: '1.4.0',
    startedAt: 5,
    origins: [],
  };
  await recordEdgeStatus(db.query, { ...status, vitals: { ...READY, ...vitals } }, now);
}

describeOnBothEngines('edges of operators', (newDatabase) => {
  test('operators list edges, drain them, put them back and remove them', async (t) => {
    const { api, operate } = await startWithCustomers(t, newDatabase);
    const set = async (edge_id: string, action: string, more = {}) => {
      const answer = await operate('edgeOperator.setState', { edge_id, action, ...more });
      return answer.errorCode ?? dataOf(answer)['status'];
    };
    await report(api, 'fra1', { clockOffsetMs: 20 });
    await report(api, 'par1', { state: 'unhealthy', health: [{ check: 'clock', ok: false, detail: '7200 s behind' }] });
    const { total, list } = dataOf(await operate('edgeOperator.list', { page_size: 1, page: 2 }));
    assert.equal(total, 2);
    assert.deepEqual(list, [
      {
        edge_id: 'par1',
        group: 'default',
        labels: {},
        status: 'unhealthy',
        reason: 'clock',
        status_at: 0,
        seen_at: Math.floor(api.now / 1000),
        drain_at: 0,
        drains_itself: '0',
        revision: 0,
        lag: 0,
        rejected: 0,
        build: '1.4.0',
        features: ['drain'],
        clock_offset_ms: null,
        load: { cpu: 0.25, mbit: 12.5, requests: 40, under_way: 3, cache_disk: 0.5 },
        health: [{ check: 'clock', ok: '0', detail: '7200 s behind' }],
      },
    ]);
    assert.equal(dataOf(await operate('edgeOperator.list', { status: 'ready' }))['total'], 1);
    assert.equal(dataOf(await operate('edgeOperator.list', { group: 'eu' }))['total'], 0);

    assert.equal(await set('fra1', 'remove'), 'edgeReady');
    assert.deepEqual([await set('fra1', 'drain'), await set('fra1', 'drain')], ['draining', 'draining']);
    assert.deepEqual(dataOf(await operate('edgeOperator.status', {}))['edges'], [
      { group: 'default', status: 'unhealthy', count: 1 },
      { group: 'default', status: 'draining', count: 1 },
    ]);
    assert.deepEqual([await set('fra1', 'undrain'), await set('fra1', 'undrain')], ['ready', 'ready']);
    await report(api, 'fra1', { state: 'draining' });
    assert.equal(await set('fra1', 'undrain'), 'edgeDrainsItself');
    await report(api, 'fra1');
    assert.equal(await set('fra1', 'remove', { force: '1' }), 'removed');
    assert.deepEqual([await set('fra1', 'remove'), await set('fra1', 'drain')], ['removed', 'edgeGone']);
    assert.equal(await set('nobody', 'drain'), 'edgeNotFound');
    assert.equal((await operate('edgeOperator.get', { edge_id: 'nobody' })).errorCode, 'edgeNotFound');
    assert.deepEqual(dataOf(await operate('edgeOperator.get', { edge_id: 'par1' }))['rejections'], []);
    const events = dataOf(await operate('edgeOperator.events', { edge_id: 'fra1' }))['list'];
    assert.ok(Array.isArray(events));
    assert.deepEqual(
      events.map(({ event, detail }) => `${event} ${detail}`),
      ['remove while ready, by force', 'undrain while draining', 'drain while ready'],
    );
    assert.match(String(events[0].actor), /^token:\d+$/);
  });

  test("a domain's change is in force without the edges that are being drained", async (t) => {
    const { api, mine, operate } = await startWithCustomers(t, newDatabase);
    await report(api, 'fra1');
    await report(api, 'par1');
    const id = await add(mine, 'www.example.com');
    await report(api, 'fra1');
    assert.equal((await show(mine, id))['domain_status'], 1);
    const task = dataOf(await mine('cache.purge', { domain_id: id }))['task_id'];
    await report(api, 'fra1');
    await operate('edgeOperator.setState', { edge_id: 'par1', action: 'drain' });
    assert.equal((await show(mine, id))['domain_status'], 2);
    assert.equal(dataOf(await mine('cache.getTask', { task_id: task }))['state'], 'done');
  });

  test('operators see which secrets an edge has had, until they are renewed', async (t) => {
    const { api, me, mine, operate } = await startWithCustomers(t, newDatabase);
    const { db } = api;
    const exposed = async (edge_id: string, more = {}) =>
      dataOf(await operate('edgeOperator.exposure', { edge_id, ...more }));
    const own = await add(mine, 'eu.example');
    const usual = await add(mine, 'other.example');
    await operate('groupOperator.set', { name: 'eu', default: 0 });
    await operate('groupOperator.setDomain', { account_id: me.accountId, domain_id: own, groups: 'eu' });
    const enrol = (edge: string, group: string) =>
      enrolEdge(db.query, { edge, group, labels: {}, machine: '', sealKey: '' }, api.now);
    await enrol('fra1', 'eu');
    await enrol('par1', 'default');
    await report(api, 'local');
    const use = async (key: string, domainId: string, created_at: number) => {
      const rest = {
        title: '',
        fingerprint: key,
        chain: '',
        private_key: '',
        issuer: '',
        names: '[]',
        key_kind: 'ecdsa',
      };
      const valid = { valid_from: 0, valid_to: 1, account_id: Number(me.accountId), created_at };
      await db.query
        .insertInto('certificate')
        .values({ key, ...rest, ...valid })
        .execute();
      await db.query
        .insertInto('certificate_use')
        .values({ domain_id: Number(domainId), certificate_key: key })
        .execute();
    };
    await use('c1', own, api.now);
    await use('c2', usual, api.now);
    const keys = { domain_id: Number(own), sealed_keys: '', changed_at: api.now };
    await db.query.insertInto('live_keys').values(keys).execute();
    const row = (domain_id: string, domain_name: string, ssl_keys: string[], live_keys: string) => ({
      ...{ domain_id, domain_name, account_id: String(me.accountId), ssl_keys, live_keys },
    });
    const [ofOwn, ofUsual] = [row(own, 'eu.example', ['c1'], '1'), row(usual, 'other.example', ['c2'], '0')];
    assert.deepEqual(await exposed('fra1'), { group: 'eu', revoked_at: 0, total: 1, list: [ofOwn] });
    assert.deepEqual((await exposed('par1'))['list'], [ofOwn, ofUsual], 'the domain was served by its group before');
    assert.deepEqual((await exposed('local'))['list'], [ofOwn, ofUsual]);
    assert.deepEqual(await exposed('local', { page: 2, page_size: 1 }), {
      ...{ group: 'default', revoked_at: 0, total: 2, list: [ofUsual] },
    });
    assert.equal((await operate('edgeOperator.exposure', { edge_id: 'nobody' })).errorCode, 'edgeNotFound');

    await operate('fleetOperator.revokeEdge', { edge_id: 'fra1' });
    api.now += 1000;
    await use('c3', own, api.now);
    await db.query.updateTable('live_keys').set({ changed_at: api.now }).execute();
    await db.query.deleteFrom('certificate_use').where('certificate_key', '=', 'c1').execute();
    assert.deepEqual((await exposed('fra1'))['list'], [{ ...ofOwn, ssl_keys: [], live_keys: '0' }]);
    assert.notEqual((await exposed('fra1'))['revoked_at'], 0);
  });
});
