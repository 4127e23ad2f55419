/** Checks, explanations and tails over HTTP with a scripted edge: what is refused, and what an edge may not answer. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { startTestApi, type TestApi } from '../support/api/api.ts';
import { add, dataOf, startWithCustomers } from '../support/api/customers.ts';
import { askScriptedEdge } from '../support/api/scripted-edge.ts';
import { newSqlite } from '../support/db/databases.ts';
import { eventually } from '../support/eventually.ts';

async function withDomain(api: TestApi) {
  const { accessToken } = await api.join('customer', ['cdn']);
  const added = await api.call('domain.add', accessToken, {
    domain: 'www.example.com',
    cdn_type: 1,
    data: '192.0.2.1',
  });
  const domain_id = dataOf(added)['domain_id'];
  return {
    domain_id,
    call: (name: Parameters<TestApi['call']>[0], request: object) =>
      api.call(name, accessToken, { domain_id, ...request }),
  };
}

const URL = { url: 'http://www.example.com/' };

describe('questions about a domain', () => {
  test('a domain is checked once in five seconds, and another one at once', async (t) => {
    const api = await startTestApi(t, newSqlite);
    const { call } = await withDomain(api);
    assert.equal((await call('domain.check', {})).errorCode, undefined);
    const soon = await call('domain.check', {});
    assert.deepEqual(
      [soon.errorCode, soon.body['info']],
      ['checkTooSoon', 'this domain has just been checked; try again in 5 s'],
    );
    api.passedMs += 5000;
    assert.equal((await call('domain.check', {})).errorCode, undefined);
    const { call: others } = await withDomain({
      ...api,
      call: (name, token, request) =>
        api.call(name, token, name === 'domain.add' ? { ...request, domain: 'other.example' } : request),
    });
    assert.equal((await others('domain.check', {})).errorCode, undefined);
  });

  test('five checks of an account are under way at once, and another account has its own', async (t) => {
    const held: (() => void)[] = [];
    const nothing = { origin: '', address: '', connectMs: 0, tls: '', status: 0, isCacheable: false, why: 'noOrigin' };
    const checkOrigin = () => new Promise<typeof nothing>((resolve) => held.push(() => resolve(nothing)));
    const checks = { resolvers: ['127.0.0.1:9'], checkOrigin };
    const { mine, theirs } = await startWithCustomers(t, newSqlite, { checks });
    const ids = await Promise.all(Array.from({ length: 6 }, (_, n) => add(mine, `d${n}.example`)));
    const check = async (call: typeof mine, domain_id: unknown) =>
      (await call('domain.check', { domain_id })).errorCode;
    const five = ids.slice(0, 5).map((id) => check(mine, id));
    await eventually('five have asked', () => held.length === 5);
    assert.equal(await check(mine, ids[5]), 'tooManyRequests');
    const other = check(theirs, await add(theirs, 'other.example'));
    await eventually('the other account asks too', () => held.length === 6);
    for (const release of held.splice(0)) release();
    assert.deepEqual(await Promise.all([...five, other]), Array(6).fill(undefined));
    const last = check(mine, ids[5]);
    await eventually('it asks', () => held.length === 1);
    held[0]?.();
    assert.equal(await last, undefined);
  });

  test('an answer that is not of the form of one is no answer', async (t) => {
    const right = { explanation: { steps: [], xCache: 'HIT', asksOrigin: false, origins: [] } };
    const rows: readonly (readonly [unknown, string | undefined])[] = [
      [right, undefined],
      [{ problem: 'it serves that host for another domain' }, 'edgeSilent'],
      [{ explanation: { ...right.explanation, origins: [{ origin: 'o', state: 'odd' }] } }, 'edgeSilent'],
      [{ explanation: { ...right.explanation, steps: 'x' } }, 'edgeSilent'],
      [null, 'edgeSilent'],
    ];
    let answer: unknown;
    const api = await startTestApi(t, newSqlite, { asks: askScriptedEdge(() => [answer]) });
    const { call } = await withDomain(api);
    for (const [given, expected] of rows) {
      answer = given;
      assert.equal((await call('domain.explain', URL)).errorCode, expected, JSON.stringify(given));
    }
  });

  test('two logs of an account can be followed at once, and an address opens for a minute', async (t) => {
    const api = await startTestApi(t, newSqlite);
    const { call } = await withDomain(api);
    const { url, expires_at } = dataOf(await call('log.tail', { seconds: 30 }));
    assert.equal(Number(expires_at), api.now / 1000 + 60);
    const stop = new AbortController();
    t.after(() => stop.abort());
    const open = async () => {
      const response = await fetch(String(url), { signal: stop.signal });
      return [response.status, response.headers.get('x-error-code')];
    };
    assert.deepEqual(
      [await open(), await open()],
      [
        [200, null],
        [200, null],
      ],
    );
    assert.deepEqual(await open(), [429, 'tailsFull']);
    api.now += 61_000;
    assert.deepEqual(await open(), [403, 'addressExpired']);
  });
});
