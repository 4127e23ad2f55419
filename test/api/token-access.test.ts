/** Every operation, called with tokens that are limited to some access or to some domains. docs/decisions/0629 */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { ROUTE_NAMES, ROUTES, type Route, type RouteName } from '#contract/routes.ts';
import { TABLE_NAMES } from '#db/export/tables.ts';
import { ACCESS, SCOPES, type Scope } from '#model/account.ts';
import { addTestCertificate } from '../support/api/added-certificate.ts';
import { startTestApi, type TestApi } from '../support/api/api.ts';
import { add, type CallAs, dataOf, startWithCustomers } from '../support/api/customers.ts';
import { ELSEWHERE, isOfAccounts } from '../support/api/elsewhere.ts';
import { needsOf, prepareOperation } from '../support/api/prepared-operation.ts';
import { describeOnBothEngines, newSqlite } from '../support/db/databases.ts';
import { createTestTraffic } from '../support/logs/traffic.ts';
import { needs } from '../support/runner/needs.ts';

/** Operations that change nothing and are no `read` all the same: they show secrets, texts of messages, tokens or money. */
const SHOWS_MORE: readonly RouteName[] = [
  'sms.listReplies',
  'sms.balance',
  'sms.listLedger',
  'event.getWebhook',
  'eventOperator.getWebhook',
  'sms.getWebhook',
  'token.list',
  'operator.listTokens',
  'operator.listPersons',
  'member.list',
  'fleetOperator.listTokens',
  'liveOperator.getKeys',
  'smsOperator.listLedger',
  'smsOperator.listPrices',
  'smsOperator.testNumber',
  'smsOperator.listUnread',
];

/** An operation that tries something, and leaves no event of the audit trail. */
const LEAVES_NO_ROW: readonly RouteName[] = ['smsOperator.testConnector', 'sinkOperator.test'];

/** SQLite alone: what is refused is decided before any statement but the look-up of a domain, which runs on both engines below. */
describe('limits of tokens', () => {
  for (const name of ROUTE_NAMES.filter(isOfAccounts)) {
    const route: Route = ROUTES[name];
    const { access } = route;
    const scopes: readonly Scope[] = [SCOPES.find((scope) => scope === route.scope) ?? 'cdn'];
    const limits = `the access ${access}${route.isByDomain === true ? ' and the domain that is asked for' : ''}`;
    test(`${name} takes tokens with ${limits}, and no others`, needsOf(name), async (t) => {
      const api = await startTestApi(t, newSqlite);
      const { accountId, accessToken, request } = await prepareOperation(t, api, name);
      const owner = route.scope === 'operator' ? (await api.join('customer', ['cdn'])).accessToken : accessToken;
      const domains = await api.db.query.selectFrom('domain').select('id').execute();
      const add = { domain: 'elsewhere.example', cdn_type: 1, data: 'o.example' };
      const elsewhere = Number(dataOf(await api.call('domain.add', owner, add))['domain_id']);
      const others = await api.issue(accountId, { scopes, access: ACCESS.filter((one) => one !== access) });
      const limited = await api.issue(accountId, { scopes, domainIds: [elsewhere] });
      const own = route.isByDomain === true && { domainIds: domains.map(({ id }) => id) };
      // Who gives a role may do as much.
      const wide = name.startsWith('member.') && { scopes: ['cdn', 'sms'] as const, access: ACCESS };
      const allowed = await api.issue(accountId, { scopes, access: [access], ...own, ...wide });
      const before = await readAll(api);

      const refused = await api.call(name, others, request);
      assert.deepEqual([refused.http, refused.errorCode], [200, 'accessMissing'], JSON.stringify(refused.body));
      assert.match(String(refused.body['info'] ?? refused.body['msg']), new RegExp(`access ${access} `));

      if (ELSEWHERE[name] === 'less') {
        const [less, all] = [await api.call(name, limited, request), await api.call(name, accessToken, request)];
        assert.deepEqual([less.errorCode, all.errorCode], [undefined, undefined]);
        assert.ok(JSON.stringify(less.body).length < JSON.stringify(all.body).length);
        assert.doesNotMatch(JSON.stringify(less.body), /"(?:a|www)\.example\.com"/);
      } else if (ELSEWHERE[name] !== 'done')
        assert.equal((await api.call(name, limited, request)).errorCode, ELSEWHERE[name]);
      assert.deepEqual(await readAll(api), before, 'what is refused changes nothing');

      const done = await api.call(name, allowed, request);
      assert.equal(done.errorCode, undefined, JSON.stringify(done.body));
      const changes = JSON.stringify(await readAll(api)) !== JSON.stringify(before);
      if (access === 'read') assert.equal(changes, false, 'what only reads changes nothing');
      else assert.notEqual(changes, SHOWS_MORE.includes(name) || LEAVES_NO_ROW.includes(name), 'it changes something');
    });
  }
});

describeOnBothEngines('tokens that are limited to domains', (newDatabase) => {
  test(
    'a limited token sees its own domains in lists, statistics, tasks and certificates',
    needs('openssl'),
    async (t) => {
      const { api, me, mine, operate } = await startWithCustomers(t, newDatabase);
      const [own, other] = [await add(mine, 'own.example'), await add(mine, 'other.example')];
      const limited = await limitedCalls(api, operate, me.accountId, own);
      const traffic = createTestTraffic(t, api.db);
      for (const [id, line] of [
        [own, 'own'],
        [other, 'other'],
      ] as const) {
        await traffic.addCounts(Number(id), api.now, { requests: 1 });
        await traffic.addTop(Number(id), api.now, 'url', `/${line}`, 1);
      }
      const sums = { starttime: api.now, endtime: api.now };
      assert.equal(
        JSON.stringify((await limited('stat.top', { ...sums, kind: 'url' })).body).includes('/other'),
        false,
      );
      assert.match(JSON.stringify((await limited('stat.top', { ...sums, kind: 'url' })).body), /\/own/);
      const requestsOf = async (call: CallAs) => Object(dataOf(await call('stat.requests', sums))['total'])['requests'];
      assert.deepEqual([await requestsOf(limited), await requestsOf(mine)], [1, 2]);

      const urls = ['http://own.example/a', 'http://other.example/a'];
      const { task_id: both } = dataOf(await mine('cache.purge', { urls }));
      const { task_id: ours } = dataOf(await mine('cache.purge', { urls: urls[0] }));
      assert.equal((await limited('cache.getTask', { task_id: both })).errorCode, 'taskNotFound');
      assert.equal((await limited('cache.getTask', { task_id: ours })).errorCode, undefined);
      assert.equal((await limited('cache.purge', { urls })).errorCode, 'hostNotFound', 'one of them is enough');

      for (const [id, name] of [
        [own, 'own.example'],
        [other, 'other.example'],
      ]) {
        const { ssl_key } = await addTestCertificate(t, api, me.accessToken, [String(name)]);
        await mine('config.setSsl', { domain_id: id, ssl_control: 1, ssl_key });
      }
      const listed = (await limited('certificate.list', {})).body['data'] as readonly { subjectaltname: string }[];
      assert.deepEqual(
        listed.map(({ subjectaltname }) => subjectaltname),
        ['own.example'],
      );
    },
  );

  test('a URL under a wildcard domain within reach is not within reach if another domain serves it', async (t) => {
    const { api, me, mine, operate } = await startWithCustomers(t, newDatabase);
    const wildcard = await add(mine, '*.wide.example');
    await add(mine, 'www.wide.example');
    const limited = await limitedCalls(api, operate, me.accountId, wildcard);
    for (const name of ['cache.purge', 'cache.prefetch'] as const) {
      const asked = (host: string) => limited(name, { urls: `http://${host}/a` });
      assert.equal((await asked('www.wide.example')).errorCode, 'hostNotFound', name);
      assert.equal((await asked('img.wide.example')).errorCode, undefined, name);
    }
  });

  test('a limited token reaches neither domains that are added later nor one that was given away', async (t) => {
    const { api, me, other, mine, operate } = await startWithCustomers(t, newDatabase);
    const [own, given] = [await add(mine, 'own.example'), await add(mine, 'given.example')];
    const limited = await limitedCalls(api, operate, me.accountId, `${own},${given}`);
    const later = await add(mine, 'later.example');
    const moved = { account_id: me.accountId, domain_id: given, to_account_id: other.accountId };
    assert.equal((await operate('operator.transferDomain', moved)).errorCode, undefined);
    for (const domain_id of [later, given])
      assert.equal((await limited('domain.get', { domain_id })).errorCode, 'domainNotFound');
    assert.equal(dataOf(await limited('domain.list', {}))['total'], 1);
  });

  test('limits of a token can be narrowed, never widened, and are refused where they mean nothing', async (t) => {
    const { me, other, mine, theirs, operate } = await startWithCustomers(t, newDatabase);
    const [own, second] = [await add(mine, 'own.example'), await add(mine, 'second.example')];
    const foreign = await add(theirs, 'foreign.example');
    const account = { account_id: me.accountId };
    const rows: readonly (readonly [Record<string, unknown>, string])[] = [
      [{ scopes: ['cdn'], domain_ids: [own, foreign] }, 'domainNotFound'],
      [{ scopes: ['cdn', 'sms'], domain_ids: own }, 'domainIdsUnused'],
      [{ scopes: ['cdn'], domain_ids: '' }, 'fieldInvalid'],
      [{ scopes: ['cdn'], domain_ids: [] }, 'fieldInvalid'],
      [{ scopes: ['cdn'], domain_ids: [own, 'x'] }, 'fieldInvalid'],
      [{ scopes: ['cdn'], domain_ids: Array.from({ length: 101 }, (_, n) => n + 1) }, 'fieldInvalid'],
      [{ scopes: ['cdn'], access: '' }, 'fieldInvalid'],
      [{ scopes: ['cdn'], access: [] }, 'fieldInvalid'],
      [{ scopes: ['cdn'], access: ['all'] }, 'fieldInvalid'],
    ];
    for (const [asked, code] of rows) {
      const answer = await operate('operator.createToken', { ...account, ...asked });
      assert.equal(answer.errorCode, code, JSON.stringify(asked));
    }
    const made = { ...account, scopes: ['cdn'], access: ['write', 'read'], domain_ids: [second, own, own] };
    const { token_id } = dataOf(await operate('operator.createToken', made));
    const key = { ...account, token_id };
    const narrow = (limits: Record<string, unknown>) => operate('operator.narrowToken', { ...key, ...limits });
    assert.equal((await narrow({})).errorCode, 'fieldMissing');
    assert.equal((await narrow({ access: ['read', 'manage'] })).errorCode, 'accessWidened');
    assert.equal((await narrow({ domain_ids: foreign })).errorCode, 'domainIdsWidened');
    assert.equal((await narrow({ access: ['read'] })).body['data'], true);
    assert.equal((await narrow({ domain_ids: own })).body['data'], true);
    const { list } = dataOf(await operate('operator.listTokens', account)) as { list: Record<string, unknown>[] };
    assert.deepEqual([list.at(-1)?.['access'], list.at(-1)?.['domain_ids']], [['read'], [own]]);
    assert.deepEqual([list[0]?.['access'], list[0]?.['domain_ids']], [ACCESS, []], 'nothing was asked of the first');
    assert.equal(
      (await operate('operator.narrowToken', { ...key, account_id: other.accountId, access: ['read'] })).errorCode,
      'tokenNotFound',
    );
  });

  test('concurrent changes that narrow a token do not give back what the other one took', async (t) => {
    const { me, operate } = await startWithCustomers(t, newDatabase);
    for (let round = 0; round < 10; round += 1) {
      const made = { account_id: me.accountId, scopes: ['cdn', 'sms'] };
      const { token_id } = dataOf(await operate('operator.createToken', made));
      const narrow = (scope: string) =>
        operate('operator.narrowToken', { account_id: me.accountId, token_id, scopes: [scope] });
      const codes = (await Promise.all([narrow('cdn'), narrow('sms')])).map(({ errorCode }) => errorCode ?? 'done');
      assert.deepEqual(codes.toSorted(), ['done', 'scopesWidened']);
    }
  });
});

/** Calls with a new token that an operator has limited to some domains. */
async function limitedCalls(api: TestApi, operate: CallAs, accountId: number, domain_ids: string): Promise<CallAs> {
  const made = await operate('operator.createToken', { account_id: accountId, scopes: ['cdn'], domain_ids });
  const token = String(dataOf(made)['access_token']);
  return (name, request) => api.call(name, token, request);
}

/** Every row of every table. */
async function readAll({ db }: TestApi): Promise<Readonly<Record<string, readonly string[]>>> {
  const tables: Record<string, readonly string[]> = {};
  for (const table of TABLE_NAMES) {
    const rows = await db.query.selectFrom(table).selectAll().execute();
    tables[table] = rows.map((row) => JSON.stringify(row)).toSorted();
  }
  return tables;
}
