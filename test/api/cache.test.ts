/** Purges, prefetches and their tasks over HTTP, on both engines. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { recordPrefetchResults } from '#db/tables/cache-tasks.ts';
import { recordEdgeStatus } from '#db/tables/edges.ts';
import { readConfigHead } from '#db/tables/resources.ts';
import type { TestApi } from '../support/api/api.ts';
import { add, type CallAs, dataOf, show, startWithCustomers } from '../support/api/customers.ts';
import { describeOnBothEngines } from '../support/db/databases.ts';

const byEdge = (edge: string) => ({ edge, group: undefined });
const SECOND_MS = 1000;
const HOUR_MS = 3600 * SECOND_MS;
const DAY_MS = 24 * HOUR_MS;

describeOnBothEngines('cache orders', (newDatabase) => {
  test("a purge reaches the feed with the edge's keys, under the site that serves each host", async (t) => {
    const { api, mine } = await startWithCustomers(t, newDatabase);
    const www = await add(mine, 'www.example.com');
    const wild = await add(mine, '*.example.com');
    const deep = await add(mine, '*.b.example.com');
    const { task_id } = dataOf(
      await mine('cache.purge', {
        urls: [
          'HTTPS://WWW.Example.COM.:8443/%7Ea/../b%2fc?x=%61&Y',
          'http://www.example.com/b%2Fc?x=%61&Y',
          'http://www.example.com',
          'http://www.example.com?q',
          'http://a.b.example.com/例 子?ü=1',
        ],
        directories: 'http://x.c.example.com/\r\nhttps://www.example.com/images/',
      }),
    );
    assert.deepEqual(await livePurges(api), [
      [`${www}:${task_id}-0`, 'url', 'www.example.com/b%2Fc?x=%61&Y'],
      [`${www}:${task_id}-1`, 'url', 'www.example.com/'],
      [`${www}:${task_id}-2`, 'url', 'www.example.com/?q'],
      [`${www}:${task_id}-3`, 'directory', 'www.example.com/images/'],
      [`${wild}:${task_id}-5`, 'directory', 'x.c.example.com/'],
      [`${deep}:${task_id}-4`, 'url', 'a.b.example.com/%E4%BE%8B%20%E5%AD%90?%C3%BC=1'],
    ]);
  });

  test('URLs that cannot be purged or prefetched are refused by their position, and nothing is counted', async (t) => {
    const { api, mine, theirs } = await startWithCustomers(t, newDatabase);
    await add(mine, 'www.example.com');
    const wildcard = await add(mine, '*.example.org');
    const foreign = await add(theirs, 'www.example.net');
    const gone = await add(mine, 'gone.example.com');
    await mine('domain.delete', { domain_id: gone });
    const many = (n: number) => Array.from({ length: n }, (_, i) => `http://www.example.com/${i}/`);
    const rows: readonly [Record<string, unknown>, string, RegExp][] = [
      [{}, 'purgeEmpty', /urls, directories or domain_id/],
      [{ urls: [], directories: ' \n ' }, 'purgeEmpty', /urls/],
      [{ urls: 'http://www.example.com/', domain_id: wildcard }, 'purgeAmbiguous', /domain_id/],
      [{ urls: many(101) }, 'fieldInvalid', /^field urls.* at most 100/],
      [{ directories: many(101).join('\n') }, 'fieldInvalid', /^field directories.* at most 100/],
      [{ urls: many(51), directories: many(50) }, 'tooManyItems', /at most 100 items per call, but found 101/],
      [{ urls: [`http://www.example.com/${'a'.repeat(2048)}`] }, 'fieldInvalid', /2048 characters/],
      [{ urls: ['http://www.example.com/', 'www.example.com/a'] }, 'urlInvalid', /urls\[1\].*does not begin with http/],
      [{ urls: ['ftp://www.example.com/a'] }, 'urlInvalid', /does not begin/],
      [{ urls: ['http://u:p@www.example.com/a'] }, 'urlInvalid', /user name/],
      [{ urls: ['http://www.example.com/a#b'] }, 'urlInvalid', /fragment/],
      [{ urls: ['http://www.example.com/%zz'] }, 'urlInvalid', /hexadecimal/],
      [{ urls: ['http://www.example.com/a\u0007'] }, 'urlInvalid', /control characters/],
      [{ urls: ['http://www.example.com:70000/'] }, 'urlInvalid', /no valid port/],
      [{ urls: ['http://www.example.com:x/'] }, 'urlInvalid', /host/],
      [{ urls: ['http:///a'] }, 'urlInvalid', /a host that is empty/],
      [{ urls: ['http://127.0.0.1/a'] }, 'urlInvalid', /IP address/],
      [{ urls: ['http://www.example.com/a/*'] }, 'urlInvalid', /not a wildcard.* a URL that ends with \/$/],
      [{ urls: ['http://www.example.com/a*?b'] }, 'urlInvalid', /not a wildcard/],
      [{ directories: ['http://www.example.com/*/'] }, 'urlInvalid', /not a wildcard/],
      [{ directories: ['http://www.example.com/a'] }, 'urlInvalid', /directories\[0\].*does not end with \//],
      [{ directories: ['http://www.example.com/a/?b/'] }, 'urlInvalid', /has a query/],
      [
        { urls: ['http://www.example.com/', 'http://www.example.net/'] },
        'hostNotFound',
        /urls\[1\].*www\.example\.net/,
      ],
      [{ directories: ['http://example.org/'] }, 'hostNotFound', /example\.org/],
      [{ urls: ['http://gone.example.com/'] }, 'hostNotFound', /gone/],
      [{ domain_id: foreign }, 'domainNotFound', /does not exist/],
      [{ domain_id: gone }, 'domainNotFound', /does not exist/],
      [{ domain_id: 99 }, 'domainNotFound', /does not exist/],
    ];
    for (const [request, code, info] of rows) {
      const answer = await mine('cache.purge', request);
      const where = JSON.stringify([request, answer.body]).slice(0, 500);
      assert.deepEqual([answer.errorCode, answer.body['status'], answer.body['data']], [code, 0, {}], where);
      assert.match(String(answer.body['info']), info, where);
      if (request['directories'] !== undefined || request['urls'] === undefined || code.startsWith('purge')) continue;
      const prefetch = await mine('cache.prefetch', request);
      assert.deepEqual([prefetch.errorCode, prefetch.body['info']], [code, answer.body['info']], where);
    }
    assert.equal((await mine('cache.prefetch', { urls: '' })).errorCode, 'prefetchEmpty');
    assert.equal((await mine('cache.prefetch', {})).errorCode, 'fieldMissing');
    assert.deepEqual(await api.db.query.selectFrom('cache_usage').selectAll().execute(), []);
    assert.deepEqual(await livePurges(api), []);
  });

  test("each account has daily limits, from midnight to midnight in the service's time zone", async (t) => {
    const limits = { purgeUrlsPerDay: 3, purgeDirectoriesPerDay: 2, prefetchUrlsPerDay: 1 };
    const { api, mine, theirs } = await startWithCustomers(t, newDatabase, { limits });
    const id = await add(mine, 'www.example.com');
    await add(theirs, 'www.example.net');
    const url = (n: number) => `http://www.example.com/${n}/`;
    const refused = async (name: 'cache.purge' | 'cache.prefetch', request: Record<string, unknown>) => {
      const { errorCode, body } = await mine(name, request);
      return [errorCode, /(\d+) remain/.exec(String(body['info']))?.[1]];
    };
    dataOf(await mine('cache.purge', { urls: [url(1), url(2), url(1)] }));
    assert.deepEqual(await refused('cache.purge', { urls: [url(1), url(2)] }), ['purgeUrlLimit', '1']);
    dataOf(await mine('cache.purge', { domain_id: id }));
    assert.deepEqual(await refused('cache.purge', { directories: [url(1), url(2)] }), ['purgeDirectoryLimit', '1']);
    // What is refused for one limit takes nothing of the other.
    assert.deepEqual(await refused('cache.purge', { urls: url(3), directories: [url(1), url(2)] }), [
      'purgeDirectoryLimit',
      '1',
    ]);
    dataOf(await mine('cache.purge', { urls: url(3), directories: url(1) }));
    assert.deepEqual(await refused('cache.purge', { urls: url(4) }), ['purgeUrlLimit', '0']);
    assert.deepEqual(await refused('cache.prefetch', { urls: [url(1), url(2)] }), ['prefetchLimit', '1']);
    dataOf(await mine('cache.prefetch', { urls: [url(1), url(1)] }));
    assert.deepEqual(await refused('cache.prefetch', { urls: url(2) }), ['prefetchLimit', '0']);
    dataOf(await theirs('cache.purge', { urls: 'http://www.example.net/' }));
    api.now += 12 * HOUR_MS - 1; // it is noon in Shanghai at the start
    assert.deepEqual(await refused('cache.purge', { urls: url(4) }), ['purgeUrlLimit', '0']);
    api.now += 1;
    dataOf(await mine('cache.purge', { urls: [url(4), url(5), url(6)], directories: [url(1), url(2)] }));
    dataOf(await mine('cache.prefetch', { urls: url(1) }));
  });

  test("concurrent calls succeed exactly as often as the day's limit allows", async (t) => {
    const { mine } = await startWithCustomers(t, newDatabase, { limits: { purgeUrlsPerDay: 7 } });
    await add(mine, 'www.example.com');
    const calls = Array.from({ length: 20 }, (_, n) => mine('cache.purge', { urls: `http://www.example.com/${n}` }));
    const codes = (await Promise.all(calls)).map(({ errorCode }) => errorCode);
    assert.deepEqual(
      [codes.filter((code) => code === undefined).length, codes.filter((code) => code === 'purgeUrlLimit').length],
      [7, 13],
    );
  });

  test('a purge replaces the purges it covers; purge 1,001 covers the whole domain', async (t) => {
    const { api, mine } = await startWithCustomers(t, newDatabase, { limits: { purgeUrlsPerDay: 10_000 } });
    const id = await add(mine, 'www.example.com');
    const purge = async (request: Record<string, unknown>) =>
      String(dataOf(await mine('cache.purge', request))['task_id']);
    const url = (path: string) => `http://www.example.com/${path}`;
    await purge({ urls: [url('a/1'), url('a/2?x'), url('b')] });
    const again = await purge({ urls: [url('b')] });
    const below = await purge({ directories: [url('a/'), url('a/deep/')], urls: [url('a/3')] });
    assert.deepEqual(await livePurges(api), [
      [`${id}:${again}-0`, 'url', 'www.example.com/b'],
      [`${id}:${below}-0`, 'directory', 'www.example.com/a/'],
    ]);
    assert.equal((await api.db.query.selectFrom('purge').selectAll().execute()).length, 2);
    for (let call = 0; call < 10; call++) {
      await purge({ urls: Array.from({ length: call === 9 ? 98 : 100 }, (_, n) => url(`many/${call}/${n}`)) });
    }
    assert.equal((await livePurges(api)).length, 1000);
    const beyond = await purge({ urls: [url('one-more')] });
    assert.deepEqual(await livePurges(api), [[`${id}:${beyond}-0`, 'site', '']]);
    const whole = await purge({ domain_id: id });
    assert.deepEqual(await livePurges(api), [[`${id}:${whole}-0`, 'site', '']]);
  });

  test('a purge does not change domain_status; its task is done when every live edge has applied it', async (t) => {
    const { api, mine, theirs } = await startWithCustomers(t, newDatabase);
    const id = await add(mine, 'www.example.com');
    await api.acknowledge('north');
    await api.acknowledge('south');
    const before = (await readConfigHead(api.db.query)).revision;
    const { task_id } = dataOf(await mine('cache.purge', { domain_id: id }));
    const task = () => readTask(mine, task_id);
    assert.equal((await show(mine, id))['domain_status'], 2);
    const { items, ...rest } = await task();
    assert.deepEqual(rest, {
      task_id,
      kind: 'purge',
      state: 'running',
      create_time: '2026-01-31 12:00:00',
      edges: [
        { edge: 'north', state: 'waiting', detail: '' },
        { edge: 'south', state: 'waiting', detail: '' },
      ],
    });
    const item = { kind: 'domain', item: 'www.example.com' };
    assert.deepEqual(items, [{ ...item, state: 'waiting', waiting: 2, done: 0, failed: 0, failures: [] }]);
    await api.acknowledge('north');
    assert.deepEqual(await stateOf(task), ['running', 'done', 'waiting']);
    await api.acknowledge('south');
    assert.deepEqual(await stateOf(task), ['done', 'done', 'done']);
    assert.deepEqual((await task()).items, [{ ...item, state: 'done', waiting: 0, done: 2, failed: 0, failures: [] }]);

    // An edge that comes back with what it had, and then has all.
    await api.acknowledge('south', before);
    assert.deepEqual(await stateOf(task), ['running', 'done', 'waiting']);
    api.now += 30 * SECOND_MS;
    assert.deepEqual(await stateOf(task), ['running', 'done', 'waiting (away)'], 'nobody is there');
    await api.acknowledge('north');
    assert.deepEqual(await stateOf(task), ['done', 'done', 'waiting (away)']);
    await api.acknowledge('south');
    assert.deepEqual(await stateOf(task), ['done', 'done', 'done']);
    api.now += DAY_MS;
    await api.acknowledge('north');
    assert.deepEqual(await stateOf(task), ['done', 'done'], 'a day without a word: no longer shown');

    for (const call of [theirs, mine]) {
      const answer = await call('cache.getTask', { task_id: call === mine ? 99 : Number(task_id) });
      assert.equal(answer.errorCode, 'taskNotFound');
    }
  });

  test('an edge that cannot apply a purge makes its task fail with the reason', async (t) => {
    const { api, mine } = await startWithCustomers(t, newDatabase);
    const id = await add(mine, 'www.example.com');
    const { task_id } = dataOf(await mine('cache.purge', { domain_id: id }));
    const at = await readConfigHead(api.db.query);
    const { revision } = at;
    const rejected = [{ kind: 'purge', key: `${id}:${task_id}-0`, revision, error: 'kind: unknown' }];
    const report = { edge: 'local', at, appliedRevision: revision, rejected, build: 'test', startedAt: 0, origins: [] };
    await recordEdgeStatus(api.db.query, report, api.now);
    const task = await readTask(mine, task_id);
    assert.equal(task.state, 'failed');
    assert.deepEqual(task.edges, [{ edge: 'local', state: 'failed', detail: 'kind: unknown' }]);
    assert.deepEqual(
      task.items.map(({ state, failures }) => [state, failures]),
      [['failed', [{ edge: 'local', reason: 'kind: unknown' }]]],
    );
  });

  test('a prefetch is done when every live edge has stored all of it, and lists what failed where', async (t) => {
    const { api, mine } = await startWithCustomers(t, newDatabase);
    await add(mine, 'www.example.com');
    await api.acknowledge('north');
    await api.acknowledge('south');
    const urls = ['https://www.example.com/a?b', 'http://www.example.com/c'];
    const { task_id } = dataOf(await mine('cache.prefetch', { urls }));
    const taskId = Number(task_id);
    const resources = await api.db.query.selectFrom('resource').selectAll().where('kind', '=', 'prefetch').execute();
    const of = { taskId, host: 'www.example.com', accountId: 1, siteId: 1 };
    assert.deepEqual(
      resources.map(({ key, body }) => [key, JSON.parse(body)]),
      [
        [`${taskId}:0`, { ...of, n: 0, target: '/a?b', scheme: 'https' }],
        [`${taskId}:1`, { ...of, n: 1, target: '/c', scheme: 'http' }],
      ],
    );
    await api.acknowledge('north');
    await api.acknowledge('south');
    const task = () => readTask(mine, task_id);
    assert.deepEqual(await stateOf(task), ['running', 'waiting', 'waiting'], 'to know of it is not to have done it');
    const done = (n: number) => ({ taskId, n, failure: undefined });
    await recordPrefetchResults(api.db.query, byEdge('north'), [done(0), done(1), { ...done(0), taskId: 77 }]);
    assert.deepEqual(await stateOf(task), ['running', 'done', 'waiting']);
    api.now += 30 * SECOND_MS;
    await api.acknowledge('north');
    assert.deepEqual(await stateOf(task), ['done', 'done', 'waiting (away)'], 'who is away holds nothing back');
    await api.acknowledge('south');
    await recordPrefetchResults(api.db.query, byEdge('south'), [done(0), { taskId, n: 1, failure: 'connect' }]);
    assert.deepEqual(await stateOf(task), ['failed', 'done', 'failed (connect)']);
    assert.deepEqual((await task()).items, [
      { kind: 'url', item: urls[0], state: 'done', waiting: 0, done: 2, failed: 0, failures: [] },
      {
        kind: 'url',
        item: urls[1],
        state: 'failed',
        waiting: 0,
        done: 1,
        failed: 1,
        failures: [{ edge: 'south', reason: 'connect' }],
      },
    ]);
    await recordPrefetchResults(api.db.query, byEdge('south'), [done(1)]);
    assert.deepEqual(await stateOf(task), ['done', 'done', 'done'], 'the last word of an edge counts');
  });

  test('a prefetch without edges, or without an end, has failed after a day', async (t) => {
    const { api, mine } = await startWithCustomers(t, newDatabase);
    await add(mine, 'www.example.com');
    const { task_id } = dataOf(await mine('cache.prefetch', { urls: 'http://www.example.com/a' }));
    const half = dataOf(
      await mine('cache.prefetch', { urls: ['http://www.example.com/a', 'http://www.example.com/b'] }),
    )['task_id'];
    assert.deepEqual(await stateOf(() => readTask(mine, task_id)), ['running']);
    await recordPrefetchResults(api.db.query, byEdge('north'), [{ taskId: Number(half), n: 0, failure: undefined }]);
    api.now += DAY_MS - 1;
    await api.acknowledge('north');
    assert.deepEqual(await stateOf(() => readTask(mine, half)), ['running', 'waiting']);
    api.now += 1;
    const nowhere = await readTask(mine, task_id);
    assert.deepEqual([nowhere.state, nowhere.edges, nowhere.items[0]?.['state']], ['failed', [], 'failed']);
    assert.deepEqual(await stateOf(() => readTask(mine, half)), ['failed', 'failed (expired)']);
    assert.deepEqual(
      (await readTask(mine, half)).items.map(({ state }) => state),
      ['done', 'failed'],
    );
  });

  test('a domain that is deleted and added again does not inherit purges', async (t) => {
    const { api, mine } = await startWithCustomers(t, newDatabase);
    const first = await add(mine, 'www.example.com');
    dataOf(await mine('cache.purge', { urls: 'http://www.example.com/' }));
    await mine('domain.delete', { domain_id: first });
    const second = await add(mine, 'www.example.com');
    assert.notEqual(second, first);
    assert.deepEqual(
      (await livePurges(api)).map(([key]) => String(key).split(':')[0]),
      [first],
    );
  });

  test('cache options are stored, published and shown; omitted ones stay', async (t) => {
    const { api, mine, theirs } = await startWithCustomers(t, newDatabase);
    const id = await add(mine, 'www.example.com');
    const read = async () => dataOf(await mine('config.getCacheOptions', { domain_id: id }));
    const usual = {
      set_cookie: 'bypass',
      request_directives: '0',
      heuristic_cap: '3600',
      stale_cap: '86400',
      normalize_vary: '1',
      match_language: '0',
    };
    assert.deepEqual(await read(), { ...usual, revision: '1' });
    await api.acknowledge('local');
    const set = (request: Record<string, unknown>) => mine('config.setCacheOptions', { domain_id: id, ...request });
    assert.equal((await set({ set_cookie: 'store', heuristic_cap: '0', normalize_vary: 0 })).body['data'], true);
    assert.deepEqual(await read(), {
      ...usual,
      set_cookie: 'store',
      heuristic_cap: '0',
      normalize_vary: '0',
      revision: '2',
    });
    assert.equal((await show(mine, id))['domain_status'], 1, 'a setting like any other');
    await set({ request_directives: '1', stale_cap: 2_592_000, match_language: 1 });
    const row = await api.db.query
      .selectFrom('resource')
      .selectAll()
      .where('kind', '=', 'site')
      .executeTakeFirstOrThrow();
    assert.deepEqual(JSON.parse(row.body).cache, {
      setCookie: 'store',
      requestDirectives: true,
      heuristicCapSeconds: 0,
      staleCapSeconds: 2_592_000,
      normalizeVary: false,
      matchLanguage: true,
    });
    const rows: readonly Record<string, unknown>[] = [
      { set_cookie: 'keep' },
      { request_directives: 2 },
      { heuristic_cap: -1 },
      { heuristic_cap: 31_536_001 },
      { stale_cap: 2_592_001 },
      { normalize_vary: true },
    ];
    for (const request of rows) {
      assert.equal((await set(request)).errorCode, 'fieldInvalid', JSON.stringify(request));
    }
    for (const name of ['config.setCacheOptions', 'config.getCacheOptions'] as const) {
      assert.equal((await theirs(name, { domain_id: id })).errorCode, 'domainNotFound');
    }
  });
});

/** Key, kind and target of the purges that edges are told of. */
async function livePurges({ db }: TestApi): Promise<unknown[][]> {
  const rows = await db.query
    .selectFrom('resource')
    .selectAll()
    .where('kind', '=', 'purge')
    .where('deleted', '=', 0)
    .orderBy('key')
    .execute();
  return rows.map(({ key, body }) => {
    const { kind, target } = JSON.parse(body);
    return [key, kind, target];
  });
}

interface Task {
  readonly state: string;
  readonly edges: readonly { readonly edge: string; readonly state: string; readonly detail: string }[];
  readonly items: readonly Readonly<Record<string, unknown>>[];
}

async function readTask(call: CallAs, taskId: unknown): Promise<Task & Readonly<Record<string, unknown>>> {
  // `as`: the contract's own schema is what the client's tests compare; here its members are looked at one by one.
  return dataOf(await call('cache.getTask', { task_id: taskId })) as unknown as Task & Record<string, unknown>;
}

/** The task's state and each edge's. */
async function stateOf(task: () => Promise<Task>): Promise<string[]> {
  const { state, edges } = await task();
  return [state, ...edges.map((edge) => edge.state + (edge.detail === '' ? '' : ` (${edge.detail})`))];
}
