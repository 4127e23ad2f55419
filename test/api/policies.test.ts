/** Cache policies over HTTP, on both engines: every rule of what a policy may be, and what edges get of it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readConfigHead } from '#db/tables/resources.ts';
import { add, dataOf, specOf, startWithCustomers } from '../support/api/customers.ts';
import { describeOnBothEngines } from '../support/db/databases.ts';

const SUFFIX = { is_cache: '1', policy_type: 'suffix', policy_scheme: 'http', content: 'jpg' };
const PREFIX = { is_cache: '1', policy_type: 'prefix', policy_scheme: 'https', content: '/a/' };
const PATTERN = { is_cache: '1', policy_type: 'urlregex', policy_scheme: 'http', content: '^/a[0-9]+$' };
const NO_TIME = { time_y: 0, time_d: 0, time_h: 0, time_i: 0, time_s: 0 };

describeOnBothEngines('cache policies', (newDatabase) => {
  test('policies are read as they were set, in their order, with defaults for omitted fields', async (t) => {
    const { api, mine } = await startWithCustomers(t, newDatabase);
    const id = await add(mine, 'a.example');
    const read = async () => dataOf(await mine('config.getPolicies', { domain_id: id }));
    assert.partialDeepStrictEqual(await read(), { use_header_setting: '1', policy: [] }, 'of a new domain');
    const answer = await mine('config.setPolicies', {
      domain_id: id,
      use_header_setting: 0,
      policy: [
        { ...SUFFIX, is_cache: 1, priority: '99', content: ' .JPG , tar.gz', time_y: '2', time_d: 400, time_s: 5 },
        { is_cache: 0, policy_type: 'prefix', content: '/api', time_h: 3, priority: null, policy_scheme: null },
        { ...PATTERN, policy_scheme: 'https', is_cache: '0', unknown: 1 },
        { ...PREFIX, is_cache: '0', policy_scheme: '' },
      ],
    });
    assert.deepEqual(answer.body, { status: 1, info: 'success', data: true });
    assert.partialDeepStrictEqual(await read(), {
      use_header_setting: '0',
      policy: [
        {
          ...{ is_cache: '1', priority: 99, policy_type: 'suffix', policy_scheme: 'http', content: ' .JPG , tar.gz' },
          ...{ ...NO_TIME, time_y: 2, time_d: 400, time_s: 5 },
        },
        { is_cache: '0', priority: 1, policy_type: 'prefix', content: '/api', ...NO_TIME, time_h: 3 },
        { ...PATTERN, is_cache: '0', priority: 1, policy_scheme: 'https', ...NO_TIME },
        { is_cache: '0', priority: 1, policy_type: 'prefix', content: '/a/', ...NO_TIME },
      ],
    });
    assert.partialDeepStrictEqual(await specOf(api, 'a.example'), {
      caching: {
        followsOrigin: false,
        policies: [
          { match: 'suffix', scheme: 'http', priority: 99, isCached: true, lifetimeSeconds: 1130 * 86_400 + 5 },
          { match: 'prefix', content: '/api', priority: 1, isCached: false, lifetimeSeconds: 3 * 3600 },
          { match: 'regex', scheme: 'https' },
          { match: 'prefix' },
        ],
      },
    });
  });

  test("the whole set of policies is replaced, and may be empty if the origin's headers are followed", async (t) => {
    const { mine } = await startWithCustomers(t, newDatabase);
    const id = await add(mine, 'a.example');
    const set = (request: Record<string, unknown>) => mine('config.setPolicies', { domain_id: id, ...request });
    const count = async () => {
      const { policy } = dataOf(await mine('config.getPolicies', { domain_id: id }));
      assert.ok(Array.isArray(policy));
      return policy.length;
    };
    const rows: readonly [Record<string, unknown>, number][] = [
      [{ use_header_setting: 1, policy: [SUFFIX, PREFIX] }, 2],
      [{ use_header_setting: '0', policy: [PREFIX] }, 1],
      [{ use_header_setting: '1', policy: [] }, 0],
      [{ use_header_setting: '0', policy: [SUFFIX, SUFFIX, SUFFIX] }, 3],
      [{ use_header_setting: 1 }, 0],
      [{ use_header_setting: 1, policy: null }, 0],
    ];
    for (const [request, left] of rows) {
      assert.equal((await set(request)).body['data'], true, JSON.stringify(request));
      assert.equal(await count(), left, JSON.stringify(request));
    }
    const missing = await set({ use_header_setting: 0 });
    assert.deepEqual([missing.errorCode, missing.body['data']], ['fieldMissing', false]);
    assert.match(String(missing.body['info']), /^field policy is missing: expected .*at least one when use_header_se/);
    assert.equal((await set({ use_header_setting: 0, policy: [] })).errorCode, 'fieldInvalid');
  });

  test('each rule of a policy is enforced: the error names its position, the member and the expectation', async (t) => {
    const { api, mine } = await startWithCustomers(t, newDatabase);
    const id = await add(mine, 'a.example');
    const { revision } = await readConfigHead(api.db.query);
    const { is_cache: _isCache, ...withoutSwitch } = SUFFIX;
    const { policy_scheme: _scheme, ...withoutScheme } = SUFFIX;
    const { policy_type: _type, ...withoutType } = SUFFIX;
    const { content: _content, ...withoutContent } = SUFFIX;
    const rows: readonly [unknown, string, RegExp][] = [
      [withoutSwitch, 'fieldMissing', /\[is_cache\] is missing: expected 0 \(do not cache\) or 1 \(cache\)/],
      [withoutScheme, 'fieldMissing', /\[policy_scheme\] is missing: expected http or https/],
      [{ ...SUFFIX, policy_scheme: null }, 'fieldMissing', /\[policy_scheme\]/],
      [{ ...SUFFIX, policy_scheme: '' }, 'fieldInvalid', /\[policy_scheme\]/],
      [{ ...SUFFIX, policy_scheme: 'ftp' }, 'fieldInvalid', /\[policy_scheme\] is invalid: expected http or https/],
      [withoutType, 'fieldMissing', /\[policy_type\] is missing: expected prefix/],
      [{ ...SUFFIX, policy_type: 'glob' }, 'fieldInvalid', /\[policy_type\] .*urlregex/],
      [withoutContent, 'fieldMissing', /\[content\] is missing/],
      [{ ...SUFFIX, content: '' }, 'fieldInvalid', /\[content\]/],
      [{ ...SUFFIX, content: 'a'.repeat(1025) }, 'fieldInvalid', /\[content\] .*1024/],
      [{ ...SUFFIX, content: ' , ,' }, 'entryInvalid', /\[content\] .*separated by commas.*but " , ," /],
      [{ ...PREFIX, content: 'a/' }, 'entryInvalid', /\[content\] .*begins with \/, but "a\/" /],
      [{ ...SUFFIX, priority: 0 }, 'fieldInvalid', /\[priority\] .*from 1 to 99/],
      [{ ...SUFFIX, priority: '100' }, 'fieldInvalid', /\[priority\] .*from 1 to 99/],
      [{ ...SUFFIX, priority: 1.5 }, 'fieldInvalid', /\[priority\]/],
      [{ ...SUFFIX, is_cache: true }, 'fieldInvalid', /\[is_cache\]/],
      [{ ...SUFFIX, time_y: -1 }, 'fieldInvalid', /\[time_y\] .*from 0 to 100; found /],
      [{ ...SUFFIX, time_d: 36_501 }, 'fieldInvalid', /\[time_d\] .*from 0 to 36500; found /],
      [{ ...SUFFIX, time_h: '1h' }, 'fieldInvalid', /\[time_h\] .*from 0 to 876000; found /],
      [{ ...SUFFIX, time_i: 1e12 }, 'fieldInvalid', /\[time_i\] .*from 0 to 52560000; found /],
      [{ ...SUFFIX, time_s: 3_153_600_001 }, 'fieldInvalid', /\[time_s\] .*from 0 to 3153600000; found /],
      [{ ...PATTERN, content: '(' }, 'entryInvalid', /\[content\] .*regular expression.*, but "\(" /],
      [{ ...PATTERN, content: '(a)\\1' }, 'entryInvalid', /\[content\] .*linear time, but "\(a\)\\\\1" /],
      [{ ...PATTERN, content: 'a(?=b)' }, 'entryInvalid', /\[content\] .*linear time/],
      [{ ...PATTERN, content: 'a'.repeat(513) }, 'entryInvalid', /\[content\] .*at most 512 characters/],
      ['jpg', 'fieldInvalid', / expected a JSON object, one cache policy; found /],
      [null, 'fieldInvalid', / expected a JSON object, one cache policy; found /],
      [[SUFFIX], 'fieldInvalid', / expected a JSON object, one cache policy; found /],
    ];
    for (const [wrong, code, info] of rows) {
      const request = { domain_id: id, use_header_setting: '1', policy: [PREFIX, wrong] };
      const answer = await mine('config.setPolicies', request);
      const where = `${JSON.stringify(wrong).slice(0, 100)} → ${JSON.stringify(answer.body)}`;
      assert.equal(answer.errorCode, code, where);
      assert.match(String(answer.body['info']), /^field policy\[1\]/, where);
      assert.match(String(answer.body['info']), info, where);
      assert.equal(answer.body['data'], false);
    }
    assert.equal((await readConfigHead(api.db.query)).revision, revision, 'nothing was published');
  });

  test('a domain has at most a hundred policies, at most twenty of them patterns', async (t) => {
    const { mine } = await startWithCustomers(t, newDatabase);
    const id = await add(mine, 'a.example');
    const set = (policy: unknown) => mine('config.setPolicies', { domain_id: id, use_header_setting: 0, policy });
    const patterns = (count: number) => Array.from({ length: count }, (_, n) => ({ ...PATTERN, content: `/p${n}` }));
    const longest = [
      { ...PREFIX, priority: 1, content: `/${'a'.repeat(1023)}` },
      { ...PATTERN, content: `^/${'a'.repeat(510)}` },
    ];
    assert.equal((await set(longest)).body['data'], true, 'the least priority, and contents as long as they may be');
    const accepted = await set([...patterns(20), ...Array(80).fill(SUFFIX)]);
    assert.equal(accepted.body['data'], true, JSON.stringify(accepted.body));
    for (const policy of [
      Array(101).fill(SUFFIX),
      [...patterns(21), SUFFIX],
      Array(100_000).fill(1),
      { 0: SUFFIX },
      JSON.stringify([SUFFIX]),
    ]) {
      const answer = await set(policy);
      assert.equal(answer.errorCode, 'fieldInvalid');
      assert.match(
        String(answer.body['info']),
        /^field policy is invalid: expected .*at most 100 .* at most 20 of them/,
      );
    }
  });
});
