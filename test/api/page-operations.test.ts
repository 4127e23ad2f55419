/** Operations for pages: several domains at once, certificates, tasks, probes, over HTTP on both engines. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { insertTask, recordPrefetchResults } from '#db/tables/cache-tasks.ts';
import { addTestCertificate } from '../support/api/added-certificate.ts';
import { startTestApi } from '../support/api/api.ts';
import { add, type CallAs, dataOf, startWithCustomers } from '../support/api/customers.ts';
import { askScriptedEdge, EXPLAINS } from '../support/api/scripted-edge.ts';
import { describeOnBothEngines, newSqlite } from '../support/db/databases.ts';
import { needs } from '../support/runner/needs.ts';

interface Result {
  readonly domain_id: string;
  readonly domain_name: string;
  readonly revision: string;
  readonly changes: readonly unknown[];
  readonly error: { readonly code: string; readonly text: string } | null;
}

async function listOf<T = Result>(call: CallAs, name: Parameters<CallAs>[0], request: object): Promise<readonly T[]> {
  // `as`: of this shape, or the comparisons fail.
  return dataOf(await call(name, { ...request }))['list'] as readonly T[];
}

describeOnBothEngines('changes of several domains', (newDatabase) => {
  test('settings of several domains are changed one by one, and a refused one does not hold up the others', async (t) => {
    const { api, me, mine, operate } = await startWithCustomers(t, newDatabase);
    const ids = [await add(mine, 'a.example'), await add(mine, 'b.example'), await add(mine, 'c.example')];
    const disable = { account_id: me.accountId, domain_id: ids[1], action: 'disable' };
    await operate('operator.setDomainStatus', disable);
    const asked = { domain_ids: ids, set: { advanced: { page_compress: 1 } } };
    const tried = await listOf(mine, 'domain.changeMany', { ...asked, dry_run: 1 });
    assert.deepEqual(
      tried.map(({ error, changes }) => [error?.code, changes.length]),
      [
        [undefined, 1],
        ['domainDisabled', 0],
        [undefined, 1],
      ],
    );
    const compressOf = async (id: string | undefined) =>
      dataOf(await mine('config.getAdvanced', { domain_id: id }))['page_compress'];
    assert.equal(await compressOf(ids[0]), '0', 'a dry run changes nothing');
    const done = await listOf(mine, 'domain.changeMany', asked);
    assert.deepEqual(
      done.map(({ domain_name, error }) => [domain_name, error?.code]),
      [
        ['a.example', undefined],
        ['b.example', 'domainDisabled'],
        ['c.example', undefined],
      ],
    );
    assert.match(done[1]?.error?.text ?? '', /disabled/);
    assert.deepEqual([await compressOf(ids[0]), await compressOf(ids[2])], ['1', '1']);
    const again = await listOf(mine, 'domain.changeMany', asked);
    assert.deepEqual([again[0]?.revision, again[0]?.changes], [done[0]?.revision, []], 'nothing is left to change');
    const events = await listOf<{ target_id: string }>(mine, 'audit.list', { operation: 'domain.changeMany' });
    assert.deepEqual(
      events.map(({ target_id }) => target_id),
      [ids[2], ids[0]],
    );
    assert.equal(api.logLines.filter((line) => line.includes('"level":50')).length, 0);
  });

  test('a domain that is not within reach refuses all of the call before anything is changed', async (t) => {
    const { api, me, mine, theirs } = await startWithCustomers(t, newDatabase);
    const [own, other] = [await add(mine, 'own.example'), await add(mine, 'other.example')];
    const foreign = await add(theirs, 'foreign.example');
    const set = { advanced: { page_compress: 1 } };
    for (const domain_ids of [
      [own, foreign],
      [own, '999999'],
    ]) {
      const { errorCode } = await mine('domain.changeMany', { domain_ids, set });
      assert.equal(errorCode, 'domainNotFound');
    }
    const limited = await api.issue(me.accountId, { scopes: ['cdn'], domainIds: [Number(own)] });
    const { errorCode } = await api.call('domain.changeMany', limited, { domain_ids: [own, other], set });
    assert.equal(errorCode, 'domainNotFound');
    assert.equal(dataOf(await mine('config.getAdvanced', { domain_id: own }))['page_compress'], '0');
    for (const request of [{ domain_ids: [], set }, { domain_ids: [own], set: { no: {} } }, { domain_ids: [own] }])
      assert.match((await mine('domain.changeMany', request)).errorCode ?? '', /^field(Invalid|Missing)$/);
  });

  test(
    'a certificate is replaced where it is the first and where it is the second one',
    needs('openssl'),
    async (t) => {
      const { api, me, mine, theirs } = await startWithCustomers(t, newDatabase);
      const names = ['a.example', 'b.example'];
      const certificate = async (of: readonly string[]) =>
        (await addTestCertificate(t, api, me.accessToken, of)).ssl_key;
      const [old, fresh, narrow] = [
        await certificate(names),
        await certificate(names),
        await certificate(['a.example']),
      ];
      const ids = [await add(mine, 'a.example'), await add(mine, 'b.example')];
      for (const domain_id of ids) await mine('config.setSsl', { domain_id, ssl_control: 1, ssl_key: old });
      const detail = dataOf(await mine('certificate.get', { ssl_key: old }));
      assert.deepEqual(
        [detail['used_by'], detail['used_by_total'], detail['automatic']],
        [names.map((domain_name, n) => ({ domain_id: ids[n], domain_name })), 2, '0'],
      );
      assert.match(JSON.stringify(detail['chain']), /"subject":"[^"]+","issuer":"[^"]+","serial":"[0-9A-F]+"/);
      const page = (await mine('certificate.list', { page: 1 })).body['data'];
      assert.deepEqual(
        Object.values(Object(page)).map((row) => Object(row).domains),
        [2, 0, 0],
      );
      const replace = { ssl_key: old, new_ssl_key: narrow };
      const tried = await listOf(mine, 'certificate.replace', { ...replace, dry_run: 1 });
      assert.deepEqual(
        tried.map(({ error }) => error?.code),
        [undefined, 'certificateNotCovering'],
        'it does not cover the second domain',
      );
      const usersOf = async (ssl_key: string) => dataOf(await mine('certificate.get', { ssl_key }))['used_by_total'];
      assert.deepEqual([await usersOf(old), await usersOf(narrow)], [2, 0]);
      const done = await listOf(mine, 'certificate.replace', { ssl_key: old, new_ssl_key: fresh });
      assert.deepEqual(
        done.map(({ error }) => error),
        [null, null],
      );
      assert.deepEqual([await usersOf(old), await usersOf(fresh)], [0, 2]);
      assert.deepEqual(
        await listOf(mine, 'certificate.replace', { ssl_key: fresh, new_ssl_key: old, after: ids[1] }),
        [],
      );
      for (const [call, request] of [
        [theirs, { ssl_key: old }],
        [mine, { ssl_key: 'no' }],
      ] as const)
        assert.equal((await call('certificate.get', request)).errorCode, 'certificateNotFound');
      const missing = await mine('certificate.replace', { ssl_key: fresh, new_ssl_key: 'no' });
      assert.equal(missing.errorCode, 'certificateNotFound');
    },
  );
});

describeOnBothEngines('lists of tasks', (newDatabase) => {
  test('tasks are listed newest first, a page at a time, with how far they have come', async (t) => {
    const { api, me, mine, theirs } = await startWithCustomers(t, newDatabase);
    const id = await add(mine, 'a.example');
    const urls = ['http://a.example/1', 'http://a.example/2', 'http://a.example/3', 'http://a.example/4'];
    const { task_id: purge } = dataOf(await mine('cache.purge', { urls }));
    const { task_id: prefetch } = dataOf(await mine('cache.prefetch', { urls: urls.slice(0, 2) }));
    await api.acknowledge('one', 0);
    await api.acknowledge('two');
    interface Task {
      readonly task_id: string;
      readonly state: string;
      readonly items: readonly string[];
      readonly waiting: number;
      readonly done: number;
      readonly failed: number;
    }
    const list = (request: object, call = mine) => listOf<Task>(call, 'cache.listTasks', request);
    const states = async () =>
      (await list({})).map(({ state, waiting, done, failed }) => [state, waiting, done, failed]);
    assert.deepEqual(await states(), [
      ['running', 4, 0, 0],
      ['running', 4, 4, 0],
    ]);
    const outcome = (n: number, failure?: string) => ({ taskId: Number(prefetch), n, failure });
    await recordPrefetchResults(api.db.query, { edge: 'one', group: undefined }, [outcome(0), outcome(1)]);
    await recordPrefetchResults(api.db.query, { edge: 'two', group: undefined }, [outcome(0), outcome(1, 'no')]);
    await api.acknowledge('one');
    assert.deepEqual(await states(), [
      ['failed', 0, 3, 1],
      ['done', 0, 8, 0],
    ]);
    const [newest, oldest] = await list({});
    assert.deepEqual([newest?.task_id, oldest?.task_id], [prefetch, purge]);
    assert.deepEqual(oldest?.items, urls.slice(0, 3));
    assert.deepEqual(await list({ before: prefetch, page_size: 1 }), [oldest]);
    assert.deepEqual(await list({ kind: 'prefetch' }), [newest]);
    assert.equal(dataOf(await mine('cache.listTasks', { page_size: 1 }))['next'], prefetch);
    assert.deepEqual(await list({}, theirs), []);
    await api.db.transaction((trx) =>
      insertTask(trx, {
        accountId: me.accountId,
        kind: 'purge',
        createdAt: api.now,
        items: [{ kind: 'url', asked: 'http://other.example/', domainId: Number(id) + 1 }],
      }),
    );
    const limited = await api.issue(me.accountId, { scopes: ['cdn'], domainIds: [Number(id)] });
    assert.equal((await list({}, (name, request) => api.call(name, limited, request))).length, 2);
    for (const request of [{ kind: 'x' }, { page_size: 51 }, { before: 0 }])
      assert.equal((await mine('cache.listTasks', request)).errorCode, 'fieldInvalid');
  });
});

test('an origin is tried at most ten times a minute by an account, with what the domain would ask for', async (t) => {
  const asked: unknown[] = [];
  const finding = { origin: 'o', address: '', connectMs: 1, tls: '', status: 200, isCacheable: true, why: '' };
  const checks = {
    resolvers: [],
    checkOrigin: async (spec: { readonly name: string; readonly origins: object }) => {
      asked.push([spec.name, spec.origins]);
      return finding;
    },
  };
  const { api, mine, theirs } = await startWithCustomers(t, newSqlite, { checks });
  const origin = { protocol: 'http', primary: [{ host: 'o.example', port: 81 }], backup: [], probePath: '/' };
  const data = dataOf(await mine('origin.probe', { origin: 'o.example:81' }));
  assert.deepEqual(data, { origin: 'o', address: '', connect_ms: 1, tls: '', status: 200, cacheable: '1', why: '' });
  await mine('origin.probe', { origin: 'o.example:81', domain: 'www.Example.com' });
  const chosen = { sourcehost: 'h.example', source_type: 'https', path: '/a?b' };
  await mine('origin.probe', { origin: '[2001:db8::1]', domain: '*.example.com', ...chosen });
  assert.deepEqual(asked, [
    ['probe.invalid', { ...origin, hostHeader: 'o.example' }],
    ['www.example.com', { ...origin, hostHeader: '' }],
    [
      '*.example.com',
      { ...origin, protocol: 'https', primary: [{ host: '2001:db8::1' }], hostHeader: 'h.example', probePath: '/a?b' },
    ],
  ]);
  for (const [request, code] of [
    [{ origin: 'no origin' }, 'fieldInvalid'],
    [{ origin: '' }, 'fieldInvalid'],
    [{ origin: 'o', domain: 'no name' }, 'domainNameInvalid'],
    [{ origin: 'o', path: 'a' }, 'fieldInvalid'],
    [{ origin: 'o', path: '/a b' }, 'fieldInvalid'],
    [{ origin: 'o', sourcehost: '/' }, 'originInvalid'],
  ] as const)
    assert.equal((await mine('origin.probe', request)).errorCode, code, JSON.stringify(request));
  for (let n = 3; n < 10; n++) assert.equal((await mine('origin.probe', { origin: 'o' })).errorCode, undefined);
  const refused = await mine('origin.probe', { origin: 'o' });
  assert.deepEqual(
    [refused.errorCode, refused.body['info']],
    ['probeTooSoon', 'too many origins were tried (at most 10 a minute of an account); try again in 6 s'],
  );
  assert.equal((await theirs('origin.probe', { origin: 'o' })).errorCode, undefined, 'another account has its own');
  api.passedMs += 6_000;
  assert.equal((await mine('origin.probe', { origin: 'o' })).errorCode, undefined);
});

test('a request is explained under settings that are not saved, which must be such as could be saved', async (t) => {
  const contents: { question: { spec?: object } }[] = [];
  const asks = askScriptedEdge((content) => {
    contents.push(content as { question: { spec?: object } }); // the question of domain.explain
    const isTrial = Object(content).question.spec !== undefined;
    const [answer] = EXPLAINS(content);
    return [{ explanation: { ...Object(answer).explanation, isTrial } }];
  });
  const api = await startTestApi(t, newSqlite, { asks });
  const { accessToken } = await api.join('customer', ['cdn']);
  const call: CallAs = (name, request) => api.call(name, accessToken, request);
  const id = await add(call, 'www.example.com');
  const explain = (set?: object) =>
    call('domain.explain', { domain_id: id, url: 'http://www.example.com/', ...(set !== undefined && { set }) });
  assert.equal(dataOf(await explain())['settings'], 'stored');
  assert.equal(contents[0]?.question.spec, undefined);
  const given = dataOf(
    await explain({ ip: { ip_type: 1, ip_str: '192.0.2.1' }, advanced: { html_403: 'x'.repeat(9000) } }),
  );
  assert.equal(given['settings'], 'given');
  assert.match(JSON.stringify(contents[1]?.question.spec), /"deniedAddresses":\["192\.0\.2\.1"\]/);
  assert.doesNotMatch(JSON.stringify(contents[1]), /xxx/);
  assert.equal(dataOf(await call('config.getIp', { domain_id: id }))['ip_type'], 0, 'nothing was saved');
  assert.equal((await explain({ ip: { ip_type: 7 } })).errorCode, 'fieldInvalid');
  assert.equal((await explain({ no: {} })).errorCode, 'fieldInvalid');
  const entries = Array.from({ length: 50 }, (_, n) => `${'u'.repeat(200)}${n}`);
  assert.equal((await explain({ ua: { ua_control: 1, ua_str: entries } })).errorCode, 'trialTooLarge');
  const events = await listOf(call, 'audit.list', { operation: 'domain.explain' });
  assert.deepEqual(events, []);
});
