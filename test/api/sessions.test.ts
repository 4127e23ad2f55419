/** Sessions of browsers: the cookie, where a call with it has to come from, and when a session ends. docs/decisions/0662, 0663 */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { OPERATIONS } from '#contract/operations.ts';
import { SESSION_COOKIE } from '#contract/people/session-fields.ts';
import { ROUTES } from '#contract/routes.ts';
import { tidy } from '#feed/server/housekeeping.ts';
import {
  cookieOf,
  LOCAL_SECRET,
  pageFields,
  type Raw,
  readAnswer,
  startTestApi,
  type TestApi,
} from '../support/api/api.ts';
import { dataOf, startWithCustomers } from '../support/api/customers.ts';
import { describeOnBothEngines, newSqlite } from '../support/db/databases.ts';

const HOUR_MS = 3_600_000;
const BEGIN = ROUTES['session.begin'].path;
const LIST = ROUTES['domain.list'].path;
const STATUS = ROUTES['sms.list'].path;

/** The same call by either reader of control: the second is read by node:http from its first byte on. */
const WAYS = {
  'the call reader': (api: TestApi, path: string, body: object, headers: Record<string, string>) =>
    api.post(path, body, headers),
  'node:http': async (api: TestApi, path: string, body: object, headers: Record<string, string>) =>
    await readAnswer(
      await fetch(api.url + path, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: new Blob([JSON.stringify(body)]).stream(),
        duplex: 'half',
      }),
    ),
} as const;

describeOnBothEngines('sessions', (newDatabase) => {
  test('a token is exchanged for a cookie, which calls go by until it is ended', async (t) => {
    const { api, me } = await startWithCustomers(t, newDatabase);
    const begun = await api.post(BEGIN, { access_token: me.accessToken }, { 'user-agent': 'Browser/1 \u00e9' });
    assert.deepEqual(dataOf(begun), { next: 'done', failed_before: 0 });
    const [set = ''] = begun.headers.getSetCookie();
    assert.match(set, /^__Host-causeway=[\w-]{47}; Path=\/; HttpOnly; Secure; SameSite=Strict; Max-Age=43200$/);
    const cookie = cookieOf(begun.headers);
    const shown = dataOf(await api.call('session.get', cookie, {}));
    assert.partialDeepStrictEqual(shown, {
      method: 'token',
      person: null,
      token: { label: '' },
      accounts: [{ account_id: String(me.accountId), kind: 'customer', role: '', disabled: '0' }],
      account_id: String(me.accountId),
      scopes: ['cdn'],
      access: ['read', 'write', 'manage', 'money'],
      look: null,
      created_at: api.now,
      expires_at: api.now + 12 * HOUR_MS,
      strong_until: api.now + HOUR_MS / 4,
      time_zone: 'Asia/Shanghai',
    });
    assert.equal(OPERATIONS['session.get'].data.safeParse(shown).error, undefined);
    const added = await api.call('domain.add', cookie, { domain: 'a.example', cdn_type: 1, data: 'o.example' });
    assert.equal(added.errorCode, undefined);
    const { list } = dataOf(await api.call('audit.list', cookie, { target_kind: 'domain' }));
    assert.partialDeepStrictEqual(list, [{ actor: 'token', session_id: String(shown['session_id']), person_id: '' }]);
    const ended = await api.call('session.end', cookie, {});
    assert.match(ended.headers.getSetCookie()[0] ?? '', /^__Host-causeway=; .*; Max-Age=0$/);
    assert.equal((await api.call('session.get', cookie, {})).errorCode, 'sessionEnded');
  });

  test('a session ends after 12 hours, after two without a call, and with what it stands for', async (t) => {
    const { api, me, mine, operate } = await startWithCustomers(t, newDatabase, { tokenUsesEveryMs: 10 });
    const outcome = async (cookie: string) => (await api.call('domain.list', cookie, {})).errorCode;
    const idle = await api.signIn(me.accessToken);
    api.now += 2 * HOUR_MS - 1;
    assert.equal(await outcome(idle), undefined);
    const seen = () => api.db.query.selectFrom('session').select('seen_at').executeTakeFirstOrThrow();
    while ((await seen()).seen_at !== api.now) await new Promise(setImmediate);
    api.now += 2 * HOUR_MS - 1;
    assert.equal(await outcome(idle), undefined, 'the call before was one');
    while ((await seen()).seen_at !== api.now) await new Promise(setImmediate);
    api.now += 2 * HOUR_MS;
    assert.equal(await outcome(idle), 'sessionEnded');
    await api.db.transaction((trx) =>
      trx
        .updateTable('session')
        .set({ seen_at: api.now + 12 * HOUR_MS })
        .execute(),
    );
    assert.equal(await outcome(idle), undefined);
    api.now += 6 * HOUR_MS + 2;
    assert.equal(await outcome(idle), 'sessionEnded', 'whatever calls there were');
    await tidy(api.db, api.now);
    assert.deepEqual(await api.db.query.selectFrom('session').selectAll().execute(), []);

    const made = dataOf(await mine('token.create', { scopes: ['cdn'], access: ['read'] }));
    const revoked = await api.signIn(String(made['access_token']));
    assert.equal(await outcome(revoked), undefined);
    await mine('token.revoke', { token_id: made['token_id'] });
    assert.equal(await outcome(revoked), 'tokenRevoked');
    const disabled = await api.signIn(me.accessToken);
    await operate('operator.setAccountStatus', { account_id: me.accountId, enabled: 0 });
    assert.equal(await outcome(disabled), 'accountDisabled');
    assert.equal((await api.call('session.get', disabled, {})).errorCode, undefined, 'which the page has to say');
    assert.equal((await api.post(BEGIN, { access_token: me.accessToken })).errorCode, 'accountDisabled');
  });

  test('a session of a token may do what the token may, and no more', async (t) => {
    const { api, me, other } = await startWithCustomers(t, newDatabase);
    const reader = await api.signIn(await api.issue(me.accountId, { scopes: ['cdn'], access: ['read'] }));
    assert.equal((await api.call('domain.list', reader, {})).errorCode, undefined);
    assert.equal((await api.call('cache.purge', reader, { urls: 'http://a.example/' })).errorCode, 'accessMissing');
    assert.equal((await api.call('sms.list', reader, {})).errorCode, 'scopeMissing');
    assert.equal((await api.call('operator.listAccounts', reader, {})).errorCode, 'pathUnknown');
    assert.equal((await api.call('session.use', reader, { account_id: other.accountId })).errorCode, 'accountNotFound');
    assert.equal((await api.call('session.use', reader, { account_id: me.accountId })).errorCode, undefined);
    const bound = await api.issue(me.accountId, { scopes: ['cdn'] });
    await api.db.transaction((trx) => trx.updateTable('token').set({ addresses: '["192.0.2.1"]' }).execute());
    assert.equal((await api.post(BEGIN, { access_token: bound })).errorCode, 'addressNotAllowed');
    assert.equal((await api.call('domain.list', reader, {})).errorCode, 'addressNotAllowed');
    assert.equal((await api.post(BEGIN, { access_token: LOCAL_SECRET })).errorCode, 'tokenUnknown');
  });

  test('signing in replaces the session of the browser, and of a token the newest 50 are kept', async (t) => {
    const { api, me } = await startWithCustomers(t, newDatabase);
    const first = await api.signIn(me.accessToken);
    const again = await api.post(BEGIN, { access_token: me.accessToken }, pageFields(first));
    assert.equal((await api.call('session.get', first, {})).errorCode, 'sessionEnded');
    const kept = cookieOf(again.headers);
    assert.equal((await api.call('session.get', kept, {})).errorCode, undefined);
    for (let n = 0; n < 50; n += 1) {
      api.passedMs += 1000;
      await api.signIn(me.accessToken);
    }
    assert.equal((await api.call('session.get', kept, {})).errorCode, 'sessionEnded');
    const { count } = await api.db.query
      .selectFrom('session')
      .select((e) => e.fn.countAll<number>().as('count'))
      .executeTakeFirstOrThrow();
    assert.equal(count, 50);
  });
});

describe('calls with the cookie of a session', () => {
  const own = { 'sec-fetch-site': 'same-origin' };
  /** Fields beside the cookie, and the outcome. */
  const ROWS: readonly (readonly [fields: Record<string, string>, code: string | undefined])[] = [
    [own, undefined],
    [{ ...own, origin: 'HOST' }, undefined],
    [{ ...own, origin: 'https://console.example' }, undefined],
    [{}, 'crossSite'],
    [{ origin: 'HOST' }, 'crossSite'],
    [{ 'sec-fetch-site': 'cross-site' }, 'crossSite'],
    [{ 'sec-fetch-site': 'same-site' }, 'crossSite'],
    [{ 'sec-fetch-site': 'none' }, 'crossSite'],
    [{ 'sec-fetch-site': '' }, 'crossSite'],
    [{ 'sec-fetch-site': 'same-origin, cross-site' }, 'crossSite'],
    [{ ...own, origin: 'null' }, 'crossSite'],
    [{ ...own, origin: 'https://evil.example' }, 'crossSite'],
    [{ ...own, origin: 'http://console.example' }, 'crossSite'],
    [{ ...own, origin: 'https://console.example.evil.example' }, 'crossSite'],
    [{ ...own, 'content-type': 'text/plain' }, 'contentTypeWrong'],
  ];
  for (const [way, post] of Object.entries(WAYS))
    test(`${way} takes a call with a cookie from a page of the console alone`, async (t) => {
      const api = await startTestApi(t, newSqlite, { consoleUrl: 'https://console.example/' });
      const { accessToken } = await api.join('customer', ['cdn', 'sms']);
      const cookie = await api.signIn(accessToken);
      for (const path of [LIST, STATUS])
        for (const [fields, code] of ROWS) {
          const headers = { ...fields, ...(fields['origin'] === 'HOST' && { origin: api.url }), cookie };
          const answer = await post(api, path, {}, headers);
          assert.equal(answer.errorCode, code, `${path} ${JSON.stringify(fields)}`);
          if (code !== undefined) assert.ok(answer.http >= 400);
          const withToken = await post(api, path, { access_token: accessToken }, headers);
          const tokenCode = code === 'contentTypeWrong' ? code : undefined;
          assert.equal(withToken.errorCode, tokenCode, 'a token in the body makes the cookie be ignored');
        }
    });

  test('the cookie is found among others, and nothing else counts as one', async (t) => {
    const api = await startTestApi(t, newSqlite);
    const { accessToken } = await api.join('customer', ['cdn']);
    const cookie = await api.signIn(accessToken);
    const outcome = async (sent: string) => (await api.post(LIST, {}, { ...own, cookie: sent })).errorCode;
    for (const sent of [cookie, `a=b; ${cookie}; c=d`, `a=b;${cookie}`, `"x"; ${cookie} ; y`])
      assert.equal(await outcome(sent), undefined, sent);
    const secret = cookie.slice(SESSION_COOKIE.length + 1);
    for (const sent of [
      '',
      'a=b',
      `causeway=${secret}`,
      `x${cookie}`,
      `${SESSION_COOKIE}=`,
      `${SESSION_COOKIE}="${secret}"`,
    ])
      assert.equal(await outcome(sent), 'fieldMissing', sent);
    for (const sent of [`${cookie}x`, `${SESSION_COOKIE}=${secret.slice(1)}`, `${SESSION_COOKIE}=${accessToken}`])
      assert.equal(await outcome(sent), 'sessionEnded', sent);
    assert.equal((await api.call('domain.list', secret, {})).errorCode, 'tokenUnknown', 'it is no access token');
    assert.equal((await api.call('session.get', accessToken, {})).errorCode, 'notSignedIn');
  });

  test('another site can sign nobody in, and sign-in has a rate of its own for each address', async (t) => {
    const api = await startTestApi(t, newSqlite, { trustedProxies: ['127.0.0.1'] });
    const { accessToken } = await api.join('customer', ['cdn']);
    const begin = (headers: Record<string, string>): Promise<Raw> =>
      api.post(BEGIN, { access_token: accessToken }, headers);
    for (const headers of [{ 'sec-fetch-site': 'cross-site' }, { origin: 'https://evil.example' }]) {
      const answer = await begin(headers);
      assert.deepEqual([answer.http, answer.errorCode], [403, 'crossSite']);
      assert.deepEqual(answer.headers.getSetCookie(), []);
    }
    let taken = 0;
    while ((await begin({ 'x-forwarded-for': '192.0.2.1' })).errorCode === undefined) taken += 1;
    assert.equal(taken, 50);
    const refused = await begin({ 'x-forwarded-for': '192.0.2.1' });
    assert.deepEqual([refused.http, refused.errorCode], [429, 'tooManyRequests']);
    assert.equal((await begin({ 'x-forwarded-for': '192.0.2.2' })).errorCode, undefined);
  });
});
