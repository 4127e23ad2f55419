/** Headers of answers, by both readers of calls: what is left of a token's rate, and the id of the request. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseList } from 'structured-headers';
import { ROUTES } from '#contract/routes.ts';
import { readAnswer, startTestApi, type TestApi } from '../support/api/api.ts';
import { newSqlite } from '../support/db/databases.ts';

const LIST = ROUTES['domain.list'].path;

/** A call in a body of chunks, which node:http reads. */
async function callByNode(api: TestApi, body: object, headers: Record<string, string>) {
  const request = {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: new Blob([JSON.stringify(body)]).stream(),
    duplex: 'half' as const,
  };
  return await readAnswer(await fetch(api.url + LIST, request));
}

const READERS = {
  'the call reader': (api: TestApi, body: object, headers: Record<string, string>) => api.post(LIST, body, headers),
  'node:http': callByNode,
};

for (const [reader, call] of Object.entries(READERS)) {
  test(`an answer by ${reader} says what is left of the token's rate, in structured fields`, async (t) => {
    const api = await startTestApi(t, newSqlite, { limits: { tokenRatePerSecond: 2, tokenRateBurst: 5 } });
    const { accessToken } = await api.join('customer', ['cdn']);
    const fieldsOf = async (body: object) => {
      const { headers, http } = await call(api, body, {});
      const read = (name: string) => {
        const [item] = parseList(headers.get(name) ?? '');
        return item && [item[0], Object.fromEntries(item[1])];
      };
      return { http, policy: read('ratelimit-policy'), left: read('ratelimit') };
    };
    const asked = { access_token: accessToken };
    const policy = ['token', { q: 5, w: 3 }];
    assert.deepEqual(await fieldsOf(asked), { http: 200, policy, left: ['token', { r: 4, t: 1 }] });
    for (let calls = 0; calls < 3; calls += 1) await fieldsOf(asked);
    assert.deepEqual(await fieldsOf(asked), { http: 200, policy, left: ['token', { r: 0, t: 3 }] });
    assert.deepEqual(await fieldsOf(asked), { http: 429, policy, left: ['token', { r: 0, t: 3 }] });
    api.passedMs += 1000;
    assert.deepEqual(await fieldsOf(asked), { http: 200, policy, left: ['token', { r: 1, t: 2 }] });
    const unknown = { http: 200, policy: undefined, left: undefined };
    assert.deepEqual(await fieldsOf({ access_token: 'unknown' }), unknown, 'nothing is said to nobody');
  });

  test(`an id of the request is taken along by ${reader}, if it can stand in a log and a header`, async (t) => {
    const api = await startTestApi(t, newSqlite);
    const { accessToken } = await api.join('customer', ['cdn']);
    const idOf = async (sent: string) => {
      const { headers } = await call(api, { access_token: accessToken }, { 'x-request-id': sent });
      return headers.get('x-request-id') ?? '';
    };
    for (const sent of ['a', 'trace-1/span:2', 'x'.repeat(128), 'Root=1-67891233-abcdef012345678912345678']) {
      assert.equal(await idOf(sent), sent);
      const lines = api.logLines.filter((line) => JSON.parse(line).requestId === sent);
      assert.equal(lines.length, 1, sent);
    }
    for (const sent of ['', 'a b', 'x'.repeat(129), '"}', 'a,b', 'k\u00e9y'])
      assert.match(await idOf(sent), /^[0-9a-f]{8}-[0-9a-f-]{27}$/, JSON.stringify(sent));
  });
}
