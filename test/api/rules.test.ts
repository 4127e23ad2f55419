/** Lists of rules over HTTP, on both engines: how they are read back, what is refused, and what edges get of them. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { RouteName } from '#contract/routes.ts';
import { readConfigHead } from '#db/tables/resources.ts';
import { add, dataOf, specOf, startWithCustomers } from '../support/api/customers.ts';
import { describeOnBothEngines } from '../support/db/databases.ts';

const REDIRECT = { path_type: 'prefix', path: '/old/', target: '/new' };
const HEADER = { action: 'set', name: 'X-A', value: '1' };
const LIMIT = { path_type: 'prefix', path: '/login', requests: 10, seconds: 60 };

interface RuleCase {
  readonly set: RouteName;
  readonly get: RouteName;
  readonly field: string;
  readonly member: string;
  /** What is set, and how it is read back; the last one is what edges get. */
  readonly accepted: readonly (readonly [set: object, read: object, spec: object])[];
  readonly refused: readonly (readonly [rule: unknown, code: string, info: RegExp])[];
}

const CASES: readonly RuleCase[] = [
  {
    set: 'config.setRateLimits',
    get: 'config.getRateLimits',
    field: 'limits',
    member: 'rateLimits',
    accepted: [
      [
        { ...LIMIT, requests: '10', burst: '' },
        { ...LIMIT, burst: 10 },
        { match: 'prefix', content: '/login', requests: 10, seconds: 60, burst: 10 },
      ],
      [
        { path_type: 'urlregex', path: '^/api/', requests: 100_000, seconds: 3600, burst: 1, other: 1 },
        { path_type: 'urlregex', path: '^/api/', requests: 100_000, seconds: 3600, burst: 1 },
        { match: 'regex', content: '^/api/', requests: 100_000, seconds: 3600, burst: 1 },
      ],
    ],
    refused: [
      [{ ...LIMIT, path_type: undefined }, 'fieldMissing', /\[path_type\] is missing: expected prefix \(directory\)/],
      [{ ...LIMIT, path: undefined }, 'fieldMissing', /\[path\] is missing/],
      [{ ...LIMIT, path: 'login' }, 'entryInvalid', /\[path\] .*begins with \/, but "login" /],
      [{ ...LIMIT, path_type: 'urlregex', path: '(' }, 'entryInvalid', /\[path\] .*regular expression/],
      [{ ...LIMIT, requests: 0 }, 'fieldInvalid', /\[requests\] .*from 1 to 100000/],
      [{ ...LIMIT, requests: undefined }, 'fieldMissing', /\[requests\] is missing/],
      [{ ...LIMIT, seconds: 3601 }, 'fieldInvalid', /\[seconds\] .*from 1 to 3600/],
      [{ ...LIMIT, burst: 100_001 }, 'fieldInvalid', /\[burst\] .*from 1 to 100000/],
      ['/login', 'fieldInvalid', /expected a JSON object, one rate limit/],
    ],
  },
  {
    set: 'config.setRedirects',
    get: 'config.getRedirects',
    field: 'redirects',
    member: 'redirects',
    accepted: [
      [
        REDIRECT,
        { ...REDIRECT, status: '302', keep_query: '1' },
        { match: 'prefix', content: '/old/', target: '/new', status: 302, keepsQuery: true },
      ],
      [
        { path_type: 'suffix', path: 'php', target: 'HTTPS://www.example.com/?a', status: 308, keep_query: 0 },
        { path_type: 'suffix', path: 'php', target: 'HTTPS://www.example.com/?a', status: '308', keep_query: '0' },
        { match: 'suffix', content: 'php', target: 'HTTPS://www.example.com/?a', status: 308, keepsQuery: false },
      ],
    ],
    refused: [
      [{ ...REDIRECT, target: undefined }, 'fieldMissing', /\[target\] is missing/],
      [{ ...REDIRECT, target: 'new' }, 'entryInvalid', /\[target\] .*"new" is neither a URL that begins/],
      [{ ...REDIRECT, target: '//evil.example' }, 'entryInvalid', /nor a path that begins with a single \//],
      [{ ...REDIRECT, target: '/\\evil.example' }, 'entryInvalid', /nor a path that begins with a single \//],
      [{ ...REDIRECT, target: '/.//evil.example' }, 'entryInvalid', /nor a path that begins with a single \//],
      [{ ...REDIRECT, target: '/a/..\\\\evil.example' }, 'entryInvalid', /nor a path that begins with a single \//],
      [{ ...REDIRECT, target: 'javascript:alert(1)' }, 'entryInvalid', /is neither a URL/],
      [{ ...REDIRECT, target: 'http://a:b@c.example' }, 'entryInvalid', /has a user name/],
      [{ ...REDIRECT, target: '/a\r\nX: 1' }, 'entryInvalid', /contains control characters/],
      [{ ...REDIRECT, target: `/${'a'.repeat(1024)}` }, 'fieldInvalid', /\[target\]/],
      [{ ...REDIRECT, target: `/${'图'.repeat(500)}` }, 'entryInvalid', /is longer than 1024 characters in ASCII/],
      [{ ...REDIRECT, status: 303 }, 'fieldInvalid', /\[status\] .*301, 302, 307 or 308/],
      [{ ...REDIRECT, keep_query: 2 }, 'fieldInvalid', /\[keep_query\]/],
      [{ ...REDIRECT, path: 'old' }, 'entryInvalid', /\[path\] .*begins with \//],
      [{ ...REDIRECT, path: '/loop', target: '/loop/x' }, 'entryInvalid', /\[target\] .*is redirected back to where/],
    ],
  },
  {
    set: 'config.setResponseHeaders',
    get: 'config.getResponseHeaders',
    field: 'headers',
    member: 'responseHeaders',
    accepted: [
      [HEADER, HEADER, HEADER],
      [
        { action: 'remove', name: 'Server', value: 'x' },
        { action: 'remove', name: 'Server', value: '' },
        { action: 'remove', name: 'Server', value: '' },
      ],
    ],
    refused: [
      [{ ...HEADER, action: 'append' }, 'fieldInvalid', /\[action\] .*set \(replace the field\)/],
      [{ ...HEADER, name: '' }, 'fieldInvalid', /\[name\]/],
      [{ ...HEADER, name: 'X A' }, 'entryInvalid', /\[name\] .*"X A" is not a name of a header field/],
      [{ ...HEADER, name: 'X-A:' }, 'entryInvalid', /is not a name of a header field/],
      ...[
        'Connection',
        'Transfer-Encoding',
        'CONTENT-LENGTH',
        'Via',
        'x-cache',
        'Age',
        'Vary',
        'Location',
        'Expires',
      ].map((name) => [{ ...HEADER, name }, 'entryInvalid', /is a field that the service sets itself/] as const),
      [{ ...HEADER, name: 'a'.repeat(65) }, 'fieldInvalid', /\[name\]/],
      [{ ...HEADER, value: 'a\r\nSet-Cookie: b' }, 'entryInvalid', /\[value\] .*other than printable ASCII/],
      [{ ...HEADER, value: '图' }, 'entryInvalid', /other than printable ASCII/],
      [{ ...HEADER, value: '' }, 'entryInvalid', /is empty, or begins or ends with a blank/],
      [{ ...HEADER, value: undefined }, 'fieldMissing', /\[value\] is missing: expected 1 to 1024/],
      [{ ...HEADER, value: 'a'.repeat(1025) }, 'fieldInvalid', /\[value\]/],
    ],
  },
];

for (const { set, get, field, member, accepted, refused } of CASES) {
  describeOnBothEngines(`the rules of ${set}`, (newDatabase) => {
    test('rules are read back as they were set, in their order, and edges get them', async (t) => {
      const { api, mine, theirs } = await startWithCustomers(t, newDatabase);
      const id = await add(mine, 'a.example');
      const read = async () => dataOf(await mine(get, { domain_id: id }))[field];
      const change = async (rules: unknown) => (await mine(set, { domain_id: id, [field]: rules })).body['data'];
      const spec = async () => Object(await specOf(api, 'a.example'))[member];
      assert.deepEqual(await read(), []);
      assert.equal(await change(accepted.map(([given]) => given)), true);
      assert.deepEqual(
        await read(),
        accepted.map(([, shown]) => shown),
      );
      assert.deepEqual(
        await spec(),
        accepted.map(([, , sent]) => sent),
      );
      assert.equal(await change(await read()), true, 'what was read may be set');
      assert.deepEqual(
        await read(),
        accepted.map(([, shown]) => shown),
      );
      assert.equal(await change([]), true);
      assert.deepEqual([await read(), await spec()], [[], []]);
      const asked = { domain_id: id, [field]: [] };
      assert.deepEqual(
        [(await theirs(set, asked)).errorCode, (await theirs(get, asked)).errorCode],
        Array(2).fill('domainNotFound'),
      );
    });

    test('each rule of a list is checked, and the error names its place and what was expected', async (t) => {
      const { api, mine } = await startWithCustomers(t, newDatabase);
      const id = await add(mine, 'a.example');
      const { revision } = await readConfigHead(api.db.query);
      const [first] = accepted.map(([given]) => given);
      const change = (rules: unknown) => mine(set, { domain_id: id, [field]: rules });
      for (const [wrong, code, info] of refused) {
        const answer = await change([first, wrong]);
        const where = `${JSON.stringify(wrong)} → ${JSON.stringify(answer.body)}`;
        assert.equal(answer.errorCode, code, where);
        assert.match(String(answer.body['info']), info, where);
        assert.match(String(answer.body['info']), new RegExp(`^field ${field}\\[1\\]`), where);
      }
      for (const list of [Array(21).fill(first), Array(100_000).fill(1), JSON.stringify([first]), { 0: first }])
        assert.equal((await change(list)).errorCode, 'fieldInvalid');
      assert.equal((await mine(set, { domain_id: id })).errorCode, 'fieldMissing');
      assert.equal((await readConfigHead(api.db.query)).revision, revision, 'nothing was published');
      assert.equal((await change(Array(20).fill(first))).body['data'], true);
      const stale = await mine(set, { domain_id: id, [field]: [], if_revision: 1 });
      assert.equal(stale.errorCode, 'revisionChanged');
    });
  });
}

describeOnBothEngines('lists of rules', (newDatabase) => {
  test('header fields have at most 8192 characters together', async (t) => {
    const { mine } = await startWithCustomers(t, newDatabase);
    const id = await add(mine, 'a.example');
    const set = (count: number) =>
      mine('config.setResponseHeaders', {
        domain_id: id,
        headers: Array(count).fill({ ...HEADER, value: 'a'.repeat(1020) }),
      });
    assert.equal((await set(8)).body['data'], true);
    const refused = await set(9);
    assert.equal(refused.errorCode, 'entryInvalid');
    assert.match(String(refused.body['info']), /^field headers\[8\]\[value\] .*makes all of them longer than 8192/);
  });

  test('redirects that lead back by other rules or by the own name are refused, and others are not', async (t) => {
    const { mine } = await startWithCustomers(t, newDatabase);
    const id = await add(mine, 'a.example');
    const set = async (...rules: (readonly [path: string, target: string])[]) => {
      const redirects = rules.map(([path, target]) => ({ path_type: 'prefix', path, target }));
      return (await mine('config.setRedirects', { domain_id: id, redirects })).errorCode;
    };
    assert.equal(await set(['/a', '/b'], ['/b', '/c'], ['/c', '/a/x']), 'entryInvalid');
    assert.equal(await set(['/', 'https://a.example/']), 'entryInvalid');
    assert.equal(await set(['/a', 'http://a.example/a']), 'entryInvalid');
    assert.equal(await set(['/a', '/b'], ['/b', '/c']), undefined);
    assert.equal(await set(['/', 'https://www.a.example/']), undefined);
    const toHttps = { path_type: 'urlregex', path: '^http://', target: 'https://a.example/' };
    assert.equal((await mine('config.setRedirects', { domain_id: id, redirects: [toHttps] })).body['data'], true);
  });
});
