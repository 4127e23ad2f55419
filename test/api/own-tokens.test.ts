/** `/token/*` over HTTP on both engines: what an account does with its own tokens. docs/decisions/0630 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findToken, listTokens, revokeToken } from '#db/tables/tokens.ts';
import { LOCAL_SECRET, START, startTestApi, type TestApi } from '../support/api/api.ts';
import { add, type CallAs, dataOf, startWithCustomers } from '../support/api/customers.ts';
import { describeOnBothEngines } from '../support/db/databases.ts';
import { eventually } from '../support/eventually.ts';

const DAY_SECONDS = 24 * 3600;

function as(api: TestApi, accessToken: unknown): CallAs {
  return (name, request) => api.call(name, String(accessToken), request);
}

function idsOf(data: Record<string, unknown>): readonly string[] {
  assert.ok(Array.isArray(data['list']));
  return data['list'].map(({ token_id }: { token_id: string }) => token_id);
}

describeOnBothEngines("an account's own tokens", (newDatabase) => {
  test('a token makes others that may do no more than itself, and limits that are not given are its own', async (t) => {
    const { api, me, mine, theirs } = await startWithCustomers(t, newDatabase);
    const [own, second] = [await add(mine, 'own.example'), await add(mine, 'second.example')];
    await add(theirs, 'theirs.example');
    const until = START / 1000 + 3600;
    const limits = {
      scopes: ['cdn'],
      access: ['read', 'manage'],
      domain_ids: own,
      expires_at: until,
      addresses: '127.0.0.0/8,2001:db8::/32',
    };
    const made = dataOf(await mine('token.create', limits));
    assert.match(String(made['access_token']), /^cwy_[\w-]{43}$/);
    const limited = as(api, made['access_token']);
    const rows: readonly (readonly [Record<string, unknown>, string])[] = [
      [{ scopes: ['cdn', 'sms'] }, 'scopesWidened'],
      [{ scopes: ['operator'] }, 'scopesWidened'],
      [{ access: ['read', 'write'] }, 'accessWidened'],
      [{ domain_ids: [own, second] }, 'domainIdsWidened'],
      [{ addresses: '127.0.0.1,10.0.0.1' }, 'addressesWidened'],
      [{ addresses: '0.0.0.0/0' }, 'addressesWidened'],
      [{ addresses: '::/0' }, 'addressesWidened'],
      [{ addresses: '126.0.0.0/7' }, 'addressesWidened'],
      [{ expires_at: until + 1 }, 'expiryWidened'],
      [{ expires_at: START / 1000 }, 'expiryPast'],
    ];
    for (const [asked, code] of rows) {
      const answer = await limited('token.create', { scopes: ['cdn'], ...asked });
      assert.equal(answer.errorCode, code, JSON.stringify(asked));
    }
    const inherited = dataOf(await limited('token.create', { scopes: ['cdn'] }));
    const stored = await findToken(api.db.query, Number(inherited['token_id']));
    assert.deepEqual(
      [stored?.access, stored?.domainIds, stored?.addresses, stored?.expiresAt, stored?.accountId],
      [['read', 'manage'], [Number(own)], ['127.0.0.0/8', '2001:db8::/32'], until * 1000, me.accountId],
    );
    const narrower = {
      scopes: ['cdn'],
      access: ['read'],
      addresses: '127.1.0.0/16,2001:db8:7::/48',
      expires_at: until,
    };
    assert.equal((await limited('token.create', narrower)).errorCode, undefined);
    assert.equal((await mine('token.create', { scopes: ['sms'] })).errorCode, 'scopesWidened');
    const foreign = await mine('token.create', { scopes: ['cdn'], domain_ids: String(Number(second) + 1) });
    assert.equal(foreign.errorCode, 'domainNotFound');
  });

  test('tokens that may do more are not there: not listed, not rotated, not revoked', async (t) => {
    const { api, me, mine, other } = await startWithCustomers(t, newDatabase);
    const own = await add(mine, 'own.example');
    const full = (await listTokens(api.db.query, me.accountId))[0]?.id;
    const foreign = (await listTokens(api.db.query, other.accountId))[0]?.id;
    const made = dataOf(await mine('token.create', { scopes: ['cdn'], domain_ids: own }));
    const limited = as(api, made['access_token']);
    assert.deepEqual(dataOf(await limited('token.list', {}))['current'], made['token_id']);
    assert.deepEqual(idsOf(dataOf(await limited('token.list', {}))), [made['token_id']]);
    assert.deepEqual(idsOf(dataOf(await mine('token.list', {}))), [String(full), made['token_id']]);
    for (const token_id of [full, foreign, 999])
      for (const name of ['token.rotate', 'token.revoke'] as const)
        assert.equal((await limited(name, { token_id })).errorCode, 'tokenNotFound', `${name} ${token_id}`);
    // One that expires sees none that does not: rotating it would make a secret for ever.
    const passing = dataOf(await mine('token.create', { scopes: ['cdn'], expires_at: START / 1000 + 60 }));
    assert.deepEqual(idsOf(dataOf(await as(api, passing['access_token'])('token.list', {}))), [passing['token_id']]);
  });

  test('a rotated token works by both values for the overlap, and the former one manages nothing', async (t) => {
    const { api, me, mine } = await startWithCustomers(t, newDatabase);
    const { token_id, access_token: first } = dataOf(await mine('token.create', { scopes: ['cdn'], label: 'ci' }));
    const turned = dataOf(await mine('token.rotate', { token_id, overlap_seconds: 60 }));
    assert.deepEqual([turned['token_id'], turned['former_expires_at']], [token_id, START / 1000 + 60]);
    const [former, present] = [as(api, first), as(api, turned['access_token'])];
    for (const call of [former, present]) assert.equal((await call('domain.list', {})).errorCode, undefined);
    assert.equal((await former('token.rotate', { token_id })).errorCode, 'accessMissing');
    const both = await Promise.all([former, present, former].map((call) => call('domain.list', {})));
    assert.deepEqual(
      both.map(({ errorCode }) => errorCode),
      [undefined, undefined, undefined],
      'asked at once',
    );
    assert.equal((await findToken(api.db.query, Number(token_id)))?.label, 'ci');
    api.now += 60_000;
    assert.equal((await former('domain.list', {})).errorCode, 'tokenReplaced');
    assert.equal((await present('domain.list', {})).errorCode, undefined);

    const again = dataOf(await present('token.rotate', { token_id }));
    assert.equal(again['former_expires_at'], api.now / 1000 + DAY_SECONDS, 'a token may rotate itself');
    assert.equal((await former('domain.list', {})).errorCode, 'tokenUnknown', 'only one former value is known');
    const atOnce = dataOf(await mine('token.rotate', { token_id, overlap_seconds: 0 }));
    assert.equal((await as(api, again['access_token'])('domain.list', {})).errorCode, 'tokenReplaced');
    assert.equal((await as(api, atOnce['access_token'])('domain.list', {})).errorCode, undefined);
    await revokeToken(api.db.query, Number(token_id), api.now);
    assert.equal((await as(api, again['access_token'])('domain.list', {})).errorCode, 'tokenRevoked');
    assert.equal((await mine('token.rotate', { token_id })).errorCode, 'tokenEnded');
    for (const overlap_seconds of [-1, 604_801, 'x'])
      assert.equal((await mine('token.rotate', { token_id, overlap_seconds })).errorCode, 'fieldInvalid');
    assert.equal((await listTokens(api.db.query, me.accountId)).length, 2);
  });

  test('the last token with the access manage stays, also when two are revoked at once', async (t) => {
    const { api, me, mine } = await startWithCustomers(t, newDatabase);
    const first = (await listTokens(api.db.query, me.accountId))[0]?.id;
    assert.equal((await mine('token.revoke', { token_id: first })).errorCode, 'tokenLast');
    const watching = dataOf(await mine('token.create', { scopes: ['cdn'], access: ['read'] }));
    assert.equal((await mine('token.revoke', { token_id: first })).errorCode, 'tokenLast');
    assert.equal((await mine('token.revoke', { token_id: watching['token_id'] })).body['data'], true);
    assert.equal((await mine('token.revoke', { token_id: watching['token_id'] })).body['data'], true, 'once more');
    const other = dataOf(await mine('token.create', { scopes: ['cdn'] }));
    const codes = await Promise.all(
      [first, other['token_id']].map(
        async (token_id) => (await mine('token.revoke', { token_id })).errorCode ?? 'done',
      ),
    );
    const usable = (await listTokens(api.db.query, me.accountId)).filter(({ revokedAt }) => revokedAt === undefined);
    assert.equal(usable.length, 1, codes.join());
  });

  test('an account has at most 100 usable tokens, and keeps 100 of those that ended', async (t) => {
    const { api, me, mine, operate } = await startWithCustomers(t, newDatabase, {
      limits: { tokenRateBurst: 1000, tokenRatePerSecond: 1000 },
    });
    const make = () => mine('token.create', { scopes: ['cdn'], access: ['read'] });
    const made = await Promise.all(Array.from({ length: 105 }, make));
    const codes = made.map(({ errorCode }) => errorCode ?? 'done');
    assert.equal(codes.filter((code) => code === 'done').length, 99);
    assert.equal(codes.filter((code) => code === 'tokenLimit').length, 6);
    const byOperator = await operate('operator.createToken', { account_id: me.accountId, scopes: ['cdn'] });
    assert.equal(byOperator.errorCode, 'tokenLimit');
    const ids = idsOf(dataOf(await mine('token.list', {})));
    for (const token_id of ids.slice(1)) await mine('token.revoke', { token_id });
    for (let round = 0; round < 3; round += 1) {
      const { token_id } = dataOf(await make());
      await mine('token.revoke', { token_id });
    }
    const kept = idsOf(dataOf(await mine('token.list', {}))).map(Number);
    assert.equal(kept.length, 102, 'the one in use, a hundred that ended before the last was made, and that one');
    assert.deepEqual([kept.includes(Number(ids[0])), kept.includes(Number(ids[1]))], [true, false]);
    assert.ok((await listTokens(api.db.query, me.accountId)).length <= 102);
  });

  test('the last use of a token is written for all tokens at once, a minute apart, and shown', async (t) => {
    const { api, me, mine } = await startWithCustomers(t, newDatabase, { tokenUsesEveryMs: 20 });
    const token = (await listTokens(api.db.query, me.accountId))[0]?.id ?? 0;
    const lastUse = async () => (await findToken(api.db.query, token))?.lastUsedAt;
    assert.equal(await lastUse(), undefined);
    await mine('domain.list', {});
    await eventually('the use is written', async () => (await lastUse()) === START);
    api.now += 59_999;
    await mine('domain.list', {});
    const bound = await api.issue(me.accountId, { scopes: ['cdn'], access: ['read'] });
    await api.call('domain.list', bound, {});
    const marker = (await listTokens(api.db.query, me.accountId)).at(-1)?.id ?? 0;
    await eventually(
      'a round was written',
      async () => (await findToken(api.db.query, marker))?.lastUsedAt === api.now,
    );
    assert.equal(await lastUse(), START, 'it is not a minute old');
    api.now += 1;
    const shown = dataOf(await mine('token.list', {}))['list'] as readonly { last_used_time: string }[];
    assert.equal(shown[0]?.last_used_time, '2026-01-31 12:00:00');
    await eventually('the next use is written', async () => (await lastUse()) === START + 60_000);
  });

  test('what was noted is written when the service stops, and refused addresses are no use', async (t) => {
    const api = await startTestApi(t, newDatabase);
    const { accountId, accessToken } = await api.join('customer', ['cdn']);
    const operator = await api.join('operator', ['operator']);
    const asked = { account_id: accountId, scopes: ['cdn'], addresses: '192.0.2.1' };
    const bound = dataOf(await api.call('operator.createToken', operator.accessToken, asked));
    assert.equal((await api.call('domain.list', String(bound['access_token']), {})).errorCode, 'addressNotAllowed');
    await api.call('domain.list', accessToken, {});
    await api.close();
    const tokens = await listTokens(api.db.query, accountId);
    assert.deepEqual(
      tokens.map(({ lastUsedAt }) => lastUsedAt),
      [START, undefined],
    );
  });

  test('the command line of the machine has no account, and an operator has tokens of its own', async (t) => {
    const { api, operate } = await startWithCustomers(t, newDatabase);
    for (const [name, request] of [
      ['token.list', {}],
      ['token.create', { scopes: ['operator'] }],
      ['token.rotate', { token_id: 1 }],
      ['token.revoke', { token_id: 1 }],
    ] as const)
      assert.equal((await api.call(name, LOCAL_SECRET, request)).errorCode, 'accountMissing', name);
    const made = dataOf(await operate('token.create', { scopes: ['operator'], access: ['read'] }));
    const watching = as(api, made['access_token']);
    assert.equal((await watching('operator.listAccounts', {})).errorCode, undefined);
    assert.equal((await watching('operator.createAccount', { name: 'x' })).errorCode, 'accessMissing');
  });
});
