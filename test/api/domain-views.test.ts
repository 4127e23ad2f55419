/** Brief lists of domains and the propagation of changes over HTTP, on both engines. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addTestCertificate } from '../support/api/added-certificate.ts';
import { add, type CallAs, dataOf, startWithCustomers } from '../support/api/customers.ts';
import { describeOnBothEngines } from '../support/db/databases.ts';
import { READY } from '../support/feed/feed.ts';
import { createTestTraffic } from '../support/logs/traffic.ts';
import { needs } from '../support/runner/needs.ts';

const HOUR_MS = 3_600_000;

interface Listed {
  readonly total: number;
  readonly list: readonly Record<string, unknown>[];
  readonly next: string;
}

async function listed(call: CallAs, request: Record<string, unknown> = {}): Promise<Listed> {
  // `as`: what is looked at below is of this shape, or the test fails.
  return dataOf(await call('domain.listBrief', request)) as unknown as Listed;
}

async function namesOf(call: CallAs, request: Record<string, unknown>): Promise<readonly unknown[]> {
  return (await listed(call, request)).list.map(({ domain_name }) => domain_name);
}

async function allPages(call: CallAs, request: Record<string, unknown>): Promise<readonly unknown[]> {
  const names: unknown[] = [];
  for (let after = ''; ; ) {
    const page = await listed(call, { ...request, after });
    names.push(...page.list.map(({ domain_name }) => domain_name));
    if (page.next === '') return names;
    after = page.next;
  }
}

describeOnBothEngines('brief lists of domains', (newDatabase) => {
  test('a brief list is filtered by name, state, type, remark, ids and all of them together', async (t) => {
    const { api, me, mine, theirs, operate } = await startWithCustomers(t, newDatabase);
    await add(theirs, 'theirs.example');
    const first = await add(mine, 'a.example', { remark: 'Main 100% site' });
    const second = await add(mine, 'b.example', { cdn_type: 2 });
    await api.acknowledge('local');
    const third = await add(mine, 'c.test', { remark: 'shop' });
    await mine('domain.setStatus', { domain_id: second, domain_status: 0 });
    const ours = ['c.test', 'b.example', 'a.example'];
    const rows: readonly (readonly [Record<string, unknown>, readonly string[]])[] = [
      [{}, ours],
      [{ name: '', remark: '', ssl_key: '', after: '' }, ours],
      [{ name: 'EXAMPLE' }, ['b.example', 'a.example']],
      [{ statuses: ['0'] }, ['b.example']],
      [{ statuses: ['2'] }, ['a.example']],
      [{ statuses: ['1'] }, ['c.test']],
      [{ statuses: ['0', '2', '2'] }, ['b.example', 'a.example']],
      [{ statuses: ['5', '6'] }, []],
      [{ cdn_type: 2 }, ['b.example']],
      [{ remark: 'main 100%' }, ['a.example']],
      [{ remark: '100_' }, []],
      [{ domain_ids: [first, third, 999_999] }, ['c.test', 'a.example']],
      [{ domain_ids: `${first},${third}`, name: 'test' }, ['c.test']],
      [{ ssl_key: 'nothing' }, []],
    ];
    for (const [request, expected] of rows) {
      assert.deepEqual(await namesOf(mine, request), expected, JSON.stringify(request));
      assert.equal((await listed(mine, request)).total, expected.length, JSON.stringify(request));
    }
    for (const [request, field] of [
      [{ statuses: '0' }, 'statuses'],
      [{ statuses: ['3'] }, 'statuses'],
      [{ domain_ids: '' }, 'domain_ids'],
      [{ domain_ids: 'x' }, 'domain_ids'],
      [{ sort: 'size' }, 'sort'],
      [{ with: ['all'] }, 'with'],
      [{ after: 'x' }, 'after'],
      [{ sort: 'traffic', after: '7' }, 'after'],
      [{ page_size: 101 }, 'page_size'],
    ] as const) {
      const { errorCode, body } = await mine('domain.listBrief', request);
      assert.equal(errorCode, 'fieldInvalid', JSON.stringify(request));
      assert.match(String(body['info']), new RegExp(`field ${field}\\b`));
    }
    const limited = await api.issue(me.accountId, { scopes: ['cdn'], domainIds: [Number(first)] });
    const asLimited: CallAs = (name, request) => api.call(name, limited, request);
    assert.deepEqual(await namesOf(asLimited, {}), ['a.example']);
    assert.deepEqual(await namesOf(asLimited, { domain_ids: [third] }), []);
    assert.equal((await operate('domain.listBrief', {})).errorCode, 'scopeMissing');
  });

  test('a brief list goes on from its cursor in each order, and shows each domain once', async (t) => {
    const { api, mine } = await startWithCustomers(t, newDatabase);
    const names = ['m.example', 'b.example', 'z.example', 'a.example', 'k.example'];
    const ids = new Map<string, number>();
    for (const name of names) ids.set(name, Number(await add(mine, name)));
    const traffic = createTestTraffic(t, api.db);
    const sent = { 'k.example': 500, 'a.example': 70, 'm.example': 70 };
    for (const [name, bytesOut] of Object.entries(sent))
      await traffic.addCounts(ids.get(name) ?? 0, api.now, { requests: 2, hits: 1, bytesOut });
    await traffic.addCounts(ids.get('z.example') ?? 0, api.now - 25 * HOUR_MS, { requests: 9, bytesOut: 9000 });
    for (const page_size of [1, 2, 3, 100]) {
      assert.deepEqual(await allPages(mine, { page_size }), names.toReversed());
      assert.deepEqual(await allPages(mine, { sort: 'name', page_size }), names.toSorted());
      assert.deepEqual(
        await allPages(mine, { sort: 'traffic', page_size }),
        ['k.example', 'a.example', 'm.example', 'z.example', 'b.example'],
        'equal traffic: the newest first',
      );
    }
    const { list } = await listed(mine, { name: 'k.example', with: ['traffic', 'hit_ratio', 'spark'] });
    const spark = [...Array.from({ length: 23 }, () => 0), 500];
    const { traffic: shown, hit_ratio, spark: bars } = list[0] ?? {};
    assert.deepEqual([shown, hit_ratio, bars], [{ requests: 2, bytes_out: 500 }, 0.5, spark]);
    const [quiet] = (await listed(mine, { name: 'b.example', with: ['hit_ratio'] })).list;
    assert.deepEqual([quiet?.['hit_ratio'], quiet?.['traffic'], quiet?.['spark']], [null, undefined, undefined]);
  });

  test('the order by traffic is at most a minute old', async (t) => {
    const { api, mine } = await startWithCustomers(t, newDatabase);
    const [first] = [await add(mine, 'a.example'), await add(mine, 'b.example')];
    assert.deepEqual(await namesOf(mine, { sort: 'traffic' }), ['b.example', 'a.example']);
    await createTestTraffic(t, api.db).addCounts(Number(first), api.now, { requests: 1, bytesOut: 5 });
    assert.deepEqual(await namesOf(mine, { sort: 'traffic' }), ['b.example', 'a.example']);
    api.now += 60_000;
    assert.deepEqual(await namesOf(mine, { sort: 'traffic' }), ['a.example', 'b.example']);
  });

  test('a brief row has no page and no settings, but the end of the certificate', needs('openssl'), async (t) => {
    const { api, me, mine } = await startWithCustomers(t, newDatabase);
    const addedAt = api.now;
    const id = await add(mine, 'a.example', { remark: 'r' });
    const { ssl_key } = await addTestCertificate(t, api, me.accessToken, ['a.example']);
    await mine('config.setSsl', { domain_id: id, ssl_control: 1, ssl_key });
    const { list } = await listed(mine, { ssl_key });
    const { cname, revision, ssl_ends_at, created_at, ...row } = list[0] ?? {};
    assert.equal(created_at, addedAt);
    assert.match(String(cname), /^a\.example\./);
    assert.match(String(revision), /^\d+$/);
    assert.ok(Number(ssl_ends_at) > api.now);
    assert.deepEqual(row, {
      domain_id: id,
      domain_name: 'a.example',
      cdn_type_id: '1',
      cdn_type: 'static',
      domain_status: 1,
      status: 'being configured',
      remark: 'r',
      ssl_control: '1',
      origin: 'origin.example.net',
      ssl_key,
    });
  });
});

describeOnBothEngines('propagation of changes', (newDatabase) => {
  test('each edge is waiting, done, refusing or away, and the change is in force when none is awaited', async (t) => {
    const { api, mine, theirs } = await startWithCustomers(t, newDatabase);
    const id = await add(mine, 'a.example');
    const shown = async () => dataOf(await mine('domain.propagation', { domain_id: id }));
    const states = async () => {
      const { edges, in_force } = await shown();
      // `as`: of this shape, or the comparisons fail.
      const rows = edges as readonly { edge: string; state: string }[];
      return [...rows.map(({ edge, state }) => `${edge} ${state}`), in_force];
    };
    assert.deepEqual(await states(), ['0'], 'no edge');
    await api.acknowledge('gone', 0);
    api.now += 31_000;
    await api.acknowledge('one');
    await api.acknowledge('two', 0);
    assert.deepEqual(await states(), ['two waiting', 'gone away', 'one done', '0']);
    const { counts, changed_at, revision, head_revision, edges } = await shown();
    assert.deepEqual(counts, { waiting: 1, done: 1, refused: 0, away: 1 });
    assert.equal(changed_at, api.now - 31_000);
    assert.equal(revision, head_revision);
    assert.deepEqual(Object(edges)[0], {
      edge: 'two',
      applied_revision: '0',
      state: 'waiting',
      reported_at: api.now,
      error: '',
    });
    await api.acknowledge('two', undefined, ['a.example']);
    assert.deepEqual(await states(), ['two refused', 'gone away', 'one done', '0']);
    assert.equal(Object((await shown())['edges'])[0].error, 'cannot');
    await api.acknowledge('two');
    assert.deepEqual(await states(), ['gone away', 'one done', 'two done', '1']);
    await add(mine, 'b.example');
    assert.deepEqual((await states()).at(-1), '1', "another domain's change is not this one's");
    await api.acknowledge('three', 0, [], [], { ...READY, state: 'syncing' });
    assert.ok((await states()).includes('three away'), 'nothing waits for an edge that is not ready');
    api.now += 25 * HOUR_MS;
    assert.deepEqual(await states(), ['0'], 'edges that were silent for a day are not shown');
    assert.equal((await theirs('domain.propagation', { domain_id: id })).errorCode, 'domainNotFound');
  });
});
