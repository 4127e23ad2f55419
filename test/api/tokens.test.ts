/** Which tokens are good, how often they may be used, and whose address a request has. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { ROUTES } from '#contract/routes.ts';
import { setAccountDisabled } from '#db/tables/accounts.ts';
import { findTokensByHash, revokeToken } from '#db/tables/tokens.ts';
import { hashToken } from '#lib/token.ts';
import { startTestApi, type TestApi, type TestApiOptions } from '../support/api/api.ts';
import { describeOnBothEngines, newPostgres, newSqlite } from '../support/db/databases.ts';
import { needs } from '../support/runner/needs.ts';

const LIST = '/domain/listDomains';

function guess(api: TestApi, headers: Record<string, string> = {}) {
  return api.post(LIST, { access_token: `guess-${Math.random()}` }, headers);
}

describeOnBothEngines('tokens of many calls at once', (newDatabase) => {
  test('concurrent tokens are told apart, and a revoked one is refused from then on', async (t) => {
    const api = await startTestApi(t, newDatabase, { limits: { tokenRatePerSecond: 1000, tokenRateBurst: 1000 } });
    const one = await api.join('customer', ['cdn']);
    const two = await api.join('customer', ['cdn']);
    const three = await api.join('customer', ['sms']);
    const tokens = [one.accessToken, two.accessToken, three.accessToken, 'nobody’s'];
    const callAll = async () => {
      const answers = await Promise.all([...tokens, ...tokens].map((token) => api.call('domain.list', token, {})));
      return answers.map(({ errorCode }) => errorCode ?? 'ok');
    };
    const expected = ['ok', 'ok', 'scopeMissing', 'tokenUnknown'];
    assert.deepEqual(await callAll(), [...expected, ...expected]);
    // Others keep asking, so that there is always a question under way; none that began after the revocation may let it in.
    let isRevoked = false;
    const late: unknown[] = [];
    const ask = async () => {
      for (let calls = 0; calls < 20; calls += 1) {
        const wasRevoked = isRevoked;
        const { errorCode } = await api.call('domain.list', one.accessToken, {});
        if (wasRevoked) late.push(errorCode);
      }
    };
    const asking = Array.from({ length: 4 }, ask);
    const { id = 0 } =
      (await findTokensByHash(api.db.query, [hashToken(one.accessToken)])).get(hashToken(one.accessToken))?.token ?? {};
    await revokeToken(api.db.query, id, api.now);
    isRevoked = true;
    await Promise.all(asking);
    assert.ok(late.length > 0 && late.every((code) => code === 'tokenRevoked'), JSON.stringify(late));
    const after = ['tokenRevoked', 'ok', 'scopeMissing', 'tokenUnknown'];
    assert.deepEqual(await callAll(), [...after, ...after]);
  });
});

describeOnBothEngines('tokens that are bound to addresses', (newDatabase) => {
  test('a token bound to addresses is refused from elsewhere, after the account check and before the rights check', async (t) => {
    const limits = { tokenRatePerSecond: 1, tokenRateBurst: 3 };
    const api = await startTestApi(t, newDatabase, { trustedProxies: ['127.0.0.0/8'], limits });
    const { accessToken: operator } = await api.join('operator', ['operator']);
    const { accountId } = await api.join('customer', ['cdn']);
    api.passedMs += 1000;
    const make = (addresses: unknown) =>
      api.call('operator.createToken', operator, { account_id: accountId, scopes: ['sms'], addresses });
    const made = (await make('192.0.2.7/24, ::ffff:198.51.100.1,2001:DB8::/32')).body['data'];
    assert.ok(typeof made === 'object' && made !== null && 'access_token' in made);
    const call = (from: string, changed: object = {}) => {
      const body = { access_token: made.access_token, app_key: 'x', time: api.now, ...changed };
      return api.post(ROUTES['sms.updateStatus'].path, body, { 'x-forwarded-for': from, 'accept-language': 'en' });
    };
    const elsewhere = await call('203.0.113.9');
    assert.deepEqual([elsewhere.body['status'], elsewhere.errorCode], [2003, 'addressNotAllowed']);
    assert.match(String(elsewhere.body['info']), /from the address 203\.0\.113\.9$/);
    for (let n = 0; n < 5; n += 1) await call('203.0.113.9');
    for (const from of ['192.0.2.255', '198.51.100.1', '2001:db8:1::5'])
      assert.equal((await call(from)).body['status'], 2009, `${from}: nothing of the rate is used up`);
    api.passedMs += 60_000;
    assert.equal((await call('203.0.113.9', { time: 1 })).body['status'], 2012);
    await setAccountDisabled(api.db.query, accountId, api.now);
    assert.equal((await call('203.0.113.9')).body['status'], 2005);

    const { list } = (await api.call('operator.listTokens', operator, { account_id: accountId })).body['data'] as {
      list: { addresses: string[] }[];
    };
    const kept = ['192.0.2.0/24', '198.51.100.1', '2001:db8::/32'];
    assert.deepEqual(
      list.map(({ addresses }) => addresses),
      [[], kept],
    );
    api.passedMs += 60_000;
    for (const [addresses, field] of [
      ['', 'addresses'],
      ['192.0.2.0/24,here', 'addresses[1]'],
    ] as const) {
      const answer = await make(addresses);
      assert.equal(answer.body['status'], 0);
      assert.ok(String(answer.body['info']).includes(field), String(answer.body['info']));
    }
  });
});

describe('tokens', () => {
  test('tokens that are missing, unknown or not text are told apart', async (t) => {
    const api = await startTestApi(t, newSqlite);
    const rows: readonly [unknown, string, RegExp][] = [
      [{}, 'fieldMissing', /^缺少字段 access_token，应为：/],
      [{ access_token: null }, 'fieldMissing', /^缺少字段 access_token/],
      [{ access_token: '' }, 'fieldInvalid', /^字段 access_token 无效/],
      [{ access_token: ['x'] }, 'fieldInvalid', /^字段 access_token 无效/],
      [{ access_token: 'x'.repeat(513) }, 'fieldInvalid', /^字段 access_token 无效/],
      [{ access_token: 'x' }, 'tokenUnknown', /^access_token 无效$/],
      [{ access_token: 12345 }, 'tokenUnknown', /^access_token 无效$/],
      [{ access_token: "' or 1=1 --" }, 'tokenUnknown', /^access_token 无效$/],
    ];
    for (const [body, code, info] of rows) {
      const answer = await api.post(LIST, body);
      assert.deepEqual([answer.http, answer.body['status'], answer.errorCode], [200, 0, code], JSON.stringify(body));
      assert.match(String(answer.body['info']), info);
    }
  });

  test('tokens are used 2 a second with a burst of 5, each for itself', async (t) => {
    const api = await startTestApi(t, newSqlite, { limits: { tokenRatePerSecond: 2, tokenRateBurst: 5 } });
    const one = await api.join('customer', ['cdn']);
    const two = await api.join('customer', ['cdn']);
    const burst = async (token: string) => {
      const answers = await Promise.all(Array.from({ length: 8 }, () => api.call('domain.list', token, {})));
      return answers.filter(({ http }) => http === 200).length;
    };
    assert.equal(await burst(one.accessToken), 5);
    const refused = await api.call('domain.list', one.accessToken, {});
    assert.deepEqual(
      [refused.http, refused.errorCode, refused.headers.get('retry-after')],
      [429, 'tooManyRequests', '1'],
    );
    assert.deepEqual([refused.body['status'], refused.body['data']], [0, {}]);
    assert.equal(await burst(two.accessToken), 5);
    api.passedMs += 1000;
    assert.equal(await burst(one.accessToken), 2);
    api.now -= 3_600_000; // a clock that is set back gives nothing and takes nothing
    assert.equal(await burst(one.accessToken), 0);
    api.passedMs += 1000;
    assert.equal(await burst(one.accessToken), 2);
  });

  test('limits are divided by the controls that share the database, as many as there are now', async (t) => {
    const limits = { tokenRatePerSecond: 2, tokenRateBurst: 6, failedTokensPerMinute: 6 };
    const peers = { seen: 2, obstacle: undefined };
    const api = await startTestApi(t, newSqlite, { limits, peers });
    const { accessToken } = await api.join('customer', ['cdn']);
    const served = async () => {
      const answers = await Promise.all(Array.from({ length: 8 }, () => api.call('domain.list', accessToken, {})));
      return answers.filter(({ http }) => http === 200).length;
    };
    const unknown = async () => {
      const codes: unknown[] = [];
      for (let calls = 0; calls < 8; calls += 1) codes.push((await api.call('domain.list', 'wrong', {})).errorCode);
      return codes.filter((code) => code === 'tokenUnknown').length;
    };
    assert.deepEqual([await served(), await unknown()], [3, 3]);
    api.passedMs += 1000;
    assert.equal(await served(), 1);
    peers.seen = 1;
    api.passedMs += 60_000;
    assert.deepEqual([await served(), await unknown()], [6, 6]);
    peers.seen = 100;
    api.passedMs += 60_000;
    assert.deepEqual([await served(), await unknown()], [1, 1], 'at least one');
  });

  test('tokens are rate-limited on operations that they may not call, too', async (t) => {
    const api = await startTestApi(t, newSqlite, { limits: { tokenRatePerSecond: 1, tokenRateBurst: 5 } });
    const rows = [
      ['operator.listAccounts', 'customer', 'cdn', 'pathUnknown'],
      ['domain.list', 'customer', 'sms', 'scopeMissing'],
      ['domain.list', 'operator', 'operator', 'scopeMissing'],
    ] as const;
    for (const [name, kind, scope, refusal] of rows) {
      const { accessToken } = await api.join(kind, [scope]);
      const codes: unknown[] = [];
      for (let calls = 0; calls < 7; calls += 1) codes.push((await api.call(name, accessToken, {})).errorCode);
      const expected = [...Array<string>(5).fill(refusal), 'tooManyRequests', 'tooManyRequests'];
      assert.deepEqual(codes, expected, `${name} with ${scope}`);
    }
  });

  test('unknown tokens, ten a minute, are refused with 429 from then on, and good ones of that address still serve', async (t) => {
    const api = await startTestApi(t, newSqlite, { limits: { failedTokensPerMinute: 10 } });
    const { accessToken } = await api.join('customer', ['cdn']);
    for (let count = 0; count < 10; count += 1) assert.equal((await guess(api)).errorCode, 'tokenUnknown');
    const refused = await guess(api);
    assert.deepEqual(
      [refused.http, refused.errorCode, refused.headers.get('retry-after')],
      [429, 'tooManyFailedTokens', '6'],
    );
    assert.equal((await api.call('domain.list', accessToken, {})).http, 200);
    api.now -= 3_600_000; // setting the clock back shuts nobody out for longer
    api.passedMs += 6000;
    assert.equal((await guess(api)).errorCode, 'tokenUnknown');
    assert.equal((await guess(api)).http, 429);
  });

  for (const [engine, newDatabase, options] of [
    ['SQLite', newSqlite, {}],
    ['PostgreSQL', newPostgres, needs('postgres')],
  ] as const) {
    test(`unknown tokens, 300 at once, are all counted (${engine})`, options, async (t) => {
      const api = await startTestApi(t, newDatabase, { limits: { failedTokensPerMinute: 10 } });
      const answers = await Promise.all(Array.from({ length: 300 }, () => guess(api)));
      assert.equal(answers.filter(({ errorCode }) => errorCode === 'tokenUnknown').length, 10);
      assert.equal(answers.filter(({ errorCode }) => errorCode === 'tooManyFailedTokens').length, 290);
    });

    test(`wrong tokens, one of them many times at once, are one attempt (${engine})`, options, async (t) => {
      const api = await startTestApi(t, newDatabase, { limits: { failedTokensPerMinute: 2 } });
      const repeat = () => Promise.all(Array.from({ length: 100 }, () => api.call('domain.list', 'the-same', {})));
      const codes = async () => new Set((await repeat()).map(({ errorCode }) => errorCode));
      // Those that came when one of them had been refused already are the second attempt; there is no third.
      assert.ok((await codes()).has('tokenUnknown'));
      await codes();
      assert.deepEqual(await codes(), new Set(['tooManyFailedTokens']));
      assert.equal((await guess(api)).errorCode, 'tooManyFailedTokens');
    });

    test(`good tokens are never counted, even 200 at once with bad ones among them (${engine})`, options, async (t) => {
      const api = await startTestApi(t, newDatabase, { limits: { failedTokensPerMinute: 3 } });
      const { accessToken } = await api.join('customer', ['cdn']);
      const answers = await Promise.all(
        Array.from({ length: 200 }, (_, index) =>
          index % 100 === 7 ? guess(api) : api.call('domain.list', accessToken, {}),
        ),
      );
      assert.equal(answers.filter(({ body }) => body['status'] === 1).length, 198);
      assert.equal(answers.filter(({ errorCode }) => errorCode === 'tokenUnknown').length, 2);
    });
  }

  test('tokens are checked against the address that trusted proxies report, and theirs only', async (t) => {
    const start = (options: TestApiOptions) =>
      startTestApi(t, newSqlite, { ...options, limits: { failedTokensPerMinute: 1 } });
    const shutOut = async (api: TestApi, first: string, second: string) => {
      await guess(api, { 'x-forwarded-for': first });
      return (await guess(api, { 'x-forwarded-for': second })).http === 429;
    };
    const trusting = { trustedProxies: ['127.0.0.0/8', '10.0.0.0/8'] };
    assert.equal(await shutOut(await start({}), '192.0.2.1', '192.0.2.2'), true, 'nobody is trusted');
    assert.equal(await shutOut(await start(trusting), '192.0.2.1', '192.0.2.2'), false);
    assert.equal(await shutOut(await start(trusting), '192.0.2.1', '192.0.2.1'), true);
    assert.equal(
      await shutOut(await start(trusting), '198.51.100.1, 192.0.2.1', '198.51.100.2, 192.0.2.1'),
      true,
      'forged',
    );
    assert.equal(
      await shutOut(await start(trusting), '192.0.2.1, 10.0.0.1', '192.0.2.2, 10.0.0.1'),
      false,
      'two proxies',
    );
    assert.equal(await shutOut(await start(trusting), '2001:db8::1', '2001:db8::ffff:2'), true, 'one /64');
    assert.equal(await shutOut(await start(trusting), '2001:db8:0:1::1', '2001:db8:0:2::1'), false);
    assert.equal(await shutOut(await start(trusting), '::ffff:192.0.2.1', '192.0.2.1'), true, 'one address');
    assert.equal(await shutOut(await start(trusting), '192.0.2.1:1111', '192.0.2.1:2222'), true, 'ports');
    assert.equal(await shutOut(await start(trusting), 'garbage1', 'garbage2'), true, 'what is no address');
    const odd = await start(trusting);
    for (const header of ['garbage', ',,,', '', '999.1.1.1', `${'1.1.1.1,'.repeat(1000)}`]) {
      assert.ok([200, 429].includes((await guess(odd, { 'x-forwarded-for': header })).http), header.slice(0, 20));
    }
  });

  test('tokens sent through a proxy that is not trusted share its address, which the log says once', async (t) => {
    const api = await startTestApi(t, newSqlite);
    for (const client of ['192.0.2.1', '192.0.2.2']) await guess(api, { 'x-forwarded-for': client });
    const trusting = await startTestApi(t, newSqlite, { trustedProxies: ['127.0.0.0/8'] });
    await guess(trusting, { 'x-forwarded-for': '192.0.2.1' });
    const warnings = (of: TestApi) => of.logLines.filter((line) => /add it to trusted-proxies/.test(line));
    assert.deepEqual(
      warnings(api).map((line) => JSON.parse(line).peer),
      ['127.0.0.1'],
    );
    assert.deepEqual(warnings(trusting), []);
  });

  test('tokens and bodies are in no log line; the request id and the operation are', async (t) => {
    const api = await startTestApi(t, newSqlite);
    const { accessToken } = await api.join('customer', ['cdn']);
    const answer = await api.call('domain.add', accessToken, {
      domain: 'secret-plan.example',
      cdn_type: 1,
      data: 'o.example',
    });
    await api.call('domain.get', `${accessToken}x`, { domain_id: 1 });
    const log = api.logLines.join('');
    assert.equal(log.includes(accessToken) || log.includes('secret-plan'), false);
    const line = api.logLines.map((text) => JSON.parse(text)).find(({ operation }) => operation === 'domain.add');
    assert.deepEqual(
      [line.requestId, line.outcome, line.http, line.address],
      [answer.headers.get('x-request-id'), 'ok', 200, '127.0.0.1'],
    );
  });
});
