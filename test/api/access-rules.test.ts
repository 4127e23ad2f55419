/** Referer, User-Agent and IP rules over HTTP, on both engines: what a list may hold, what is kept, what edges get. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { RouteName } from '#contract/routes.ts';
import { readConfigHead } from '#db/tables/resources.ts';
import { add, dataOf, specOf, startWithCustomers } from '../support/api/customers.ts';
import { describeOnBothEngines } from '../support/db/databases.ts';

/** The three rules: how each is turned on with a list, and off without one. */
const RULES = [
  { name: 'Referer', list: 'referer_str', on: { referer_type: '1', referer_blank: 1 }, off: { referer_type: 0 } },
  { name: 'UserAgent', list: 'ua_str', on: { ua_control: 1 }, off: { ua_control: '0' } },
  { name: 'Ip', list: 'ip_str', on: { ip_type: 1 }, off: { ip_type: '0' } },
] as const;

/** Returns different entries, each valid for every kind of list. */
function addresses(count: number): string[] {
  return Array.from({ length: count }, (_, n) => `192.0.2.${n}`);
}

describeOnBothEngines('access rules', (newDatabase) => {
  test('a new domain admits everybody', async (t) => {
    const { api, mine } = await startWithCustomers(t, newDatabase);
    const id = await add(mine, 'a.example');
    assert.partialDeepStrictEqual(dataOf(await mine('config.getReferer', { domain_id: id })), {
      referer_type: '0',
      referer_blank: '1',
      referer_str: '',
    });
    assert.partialDeepStrictEqual(dataOf(await mine('config.getUserAgent', { domain_id: id })), {
      ua_control: '0',
      ua_str: '',
    });
    assert.partialDeepStrictEqual(dataOf(await mine('config.getIp', { domain_id: id })), { ip_type: 0, ip_str: '' });
    assert.partialDeepStrictEqual(await specOf(api, 'a.example'), { access: {} });
  });

  test('a rule is read back as it was set, and reaches the edges while it is on', async (t) => {
    const { api, mine } = await startWithCustomers(t, newDatabase);
    const id = await add(mine, 'a.example');
    const rows: readonly [RouteName, Record<string, unknown>, Record<string, unknown>, unknown][] = [
      [
        'config.setReferer',
        { referer_type: 2, referer_blank: '0', referer_str: 'Example.com, *.example.net ,,b.example:8080' },
        { referer_type: '2', referer_blank: '0', referer_str: 'example.com,*.example.net,b.example:8080' },
        { referer: { mode: 'allow', allowsBlank: false } },
      ],
      [
        'config.setReferer',
        { referer_type: '1', referer_blank: 1, referer_str: ['http://Bad.example/x/'] },
        { referer_type: '1', referer_blank: '1', referer_str: 'bad.example' },
        { referer: { mode: 'deny', allowsBlank: true, entries: ['bad.example'] } },
      ],
      ['config.setUserAgent', { ua_control: 1, ua_str: 'curl, *bot* ' }, { ua_control: '1', ua_str: 'curl,*bot*' }, {}],
      ['config.setUserAgent', { ua_control: '1', ua_str: 360 }, { ua_str: '360' }, {}],
      ['config.setUserAgent', { ua_control: '1', ua_str: ['^$'] }, { ua_control: '1' }, {}],
      [
        'config.setIp',
        { ip_type: '1', ip_str: '192.0.2.7/24,::FFFF:198.51.100.1, 2001:DB8:0::1/32' },
        { ip_type: 1, ip_str: '192.0.2.0/24,198.51.100.1,2001:db8::/32' },
        { deniedAddresses: ['192.0.2.0/24', '198.51.100.1', '2001:db8::/32'] },
      ],
    ];
    for (const [name, written, read, access] of rows) {
      const answer = await mine(name, { domain_id: id, ...written });
      assert.deepEqual(answer.body, { status: 1, info: 'success', data: true });
      const got = dataOf(await mine(getterOf(name), { domain_id: id }));
      assert.partialDeepStrictEqual(got, read, JSON.stringify(written));
      assert.partialDeepStrictEqual(await specOf(api, 'a.example'), { access }, JSON.stringify(written));
    }
    const spec = JSON.stringify(await specOf(api, 'a.example'));
    assert.match(spec, /"deniedUserAgents":\[".+"\]/);
    for (const { name, off } of RULES) await mine(`config.set${name}`, { domain_id: id, ...off });
    assert.partialDeepStrictEqual(await specOf(api, 'a.example'), { access: {} });
    assert.doesNotMatch(JSON.stringify(await specOf(api, 'a.example')), /deniedAddresses|deniedUserAgents|"referer"/);
  });

  test('turning a rule off keeps its list, unless the call has another', async (t) => {
    const { mine } = await startWithCustomers(t, newDatabase);
    const id = await add(mine, 'a.example');
    for (const { name, list, on, off } of RULES) {
      const set = (request: Record<string, unknown>) => mine(`config.set${name}`, { domain_id: id, ...request });
      const read = async () => dataOf(await mine(`config.get${name}`, { domain_id: id }))[list];
      await set({ ...on, [list]: '192.0.2.1,192.0.2.2' });
      for (const nothing of [{}, { [list]: '' }, { [list]: [] }, { [list]: ' , ' }, { [list]: null }]) {
        assert.equal((await set({ ...off, ...nothing })).body['data'], true, name);
        assert.equal(await read(), '192.0.2.1,192.0.2.2', `${name} ${JSON.stringify(nothing)}`);
      }
      await set({ ...off, [list]: ['192.0.2.3'] });
      assert.equal(await read(), '192.0.2.3');
    }
    await mine('config.setReferer', { domain_id: id, referer_type: 1, referer_blank: 0, referer_str: 'b.example' });
    await mine('config.setReferer', { domain_id: id, referer_type: 0 });
    assert.equal(dataOf(await mine('config.getReferer', { domain_id: id }))['referer_blank'], '0', 'and the switch');
  });

  test('turning a rule on needs a list, and the Referer rule a choice for empty Referers', async (t) => {
    const { mine } = await startWithCustomers(t, newDatabase);
    const id = await add(mine, 'a.example');
    for (const { name, list, on } of RULES) {
      const rows: readonly [Record<string, unknown>, string][] = [
        [{}, 'fieldMissing'],
        [{ [list]: null }, 'fieldMissing'],
        [{ [list]: '' }, 'fieldMissing'],
        [{ [list]: ' , ' }, 'fieldInvalid'],
        [{ [list]: [] }, 'fieldInvalid'],
        [{ [list]: [''] }, 'fieldInvalid'],
      ];
      for (const [request, code] of rows) {
        const answer = await mine(`config.set${name}`, { domain_id: id, ...on, ...request });
        assert.deepEqual([answer.errorCode, answer.body['data']], [code, false], `${name} ${JSON.stringify(request)}`);
        assert.match(String(answer.body['info']), new RegExp(`^field ${list} is .*: expected 1 to 50 `));
      }
    }
    await mine('config.setReferer', { domain_id: id, referer_type: 0, referer_blank: 0 });
    const blank = await mine('config.setReferer', { domain_id: id, referer_type: 1, referer_str: 'b.example' });
    assert.equal(blank.errorCode, 'fieldMissing');
    assert.match(String(blank.body['info']), /^field referer_blank is missing: expected 0 \(forbid an empty referer\)/);
  });

  test('turning a rule on again needs no list if one is stored', async (t) => {
    const { api, mine } = await startWithCustomers(t, newDatabase);
    const id = await add(mine, 'a.example');
    for (const { name, list, on, off } of RULES) {
      const set = (request: Record<string, unknown>) => mine(`config.set${name}`, { domain_id: id, ...request });
      await set({ ...on, [list]: '192.0.2.1' });
      await set(off);
      assert.equal((await set({ ...on, [list]: [] })).errorCode, 'fieldInvalid', 'an empty list is not the stored one');
      assert.equal((await set(on)).body['data'], true, name);
      assert.equal(dataOf(await mine(`config.get${name}`, { domain_id: id }))[list], '192.0.2.1');
    }
    assert.equal((await mine('config.setReferer', { domain_id: id, referer_type: 2 })).body['data'], true);
    assert.partialDeepStrictEqual(await specOf(api, 'a.example'), {
      access: {
        referer: { mode: 'allow', allowsBlank: true, entries: ['192.0.2.1'] },
        deniedAddresses: ['192.0.2.1'],
      },
    });
  });

  test('a list has at most 50 entries; addresses that mean the same count once', async (t) => {
    const { mine } = await startWithCustomers(t, newDatabase);
    const id = await add(mine, 'a.example');
    for (const { name, list, on } of RULES) {
      const set = (entries: unknown) => mine(`config.set${name}`, { domain_id: id, ...on, [list]: entries });
      for (const fifty of [addresses(50), addresses(50).join(','), [...addresses(50), '', ' ']])
        assert.equal((await set(fifty)).body['data'], true, name);
      const tooMany = await set(addresses(51).join(','));
      assert.equal(tooMany.errorCode, 'fieldInvalid', name);
      assert.match(String(tooMany.body['info']), new RegExp(`^field ${list} is invalid: expected 1 to 50 `));
      assert.equal((await set(Array(80_000).fill('192.0.2.1'))).errorCode, 'fieldInvalid', 'not one by one');
    }
    const longest = [
      ['config.setReferer', { ...RULES[0].on, referer_str: `a.example/${'a'.repeat(1014)}` }],
      ['config.setUserAgent', { ...RULES[1].on, ua_str: 'a'.repeat(256) }],
    ] as const;
    for (const [name, request] of longest)
      assert.equal((await mine(name, { domain_id: id, ...request })).body['data'], true, name);
    const repeated = [...addresses(50), ...addresses(50).map((address) => `::ffff:${address}`), '192.0.2.1/32'];
    assert.equal((await mine('config.setIp', { domain_id: id, ip_type: 1, ip_str: repeated })).body['data'], true);
    assert.equal(dataOf(await mine('config.getIp', { domain_id: id }))['ip_str'], addresses(50).join(','));
  });

  test('an invalid entry and a repeated one are named', async (t) => {
    const { api, mine } = await startWithCustomers(t, newDatabase);
    const id = await add(mine, 'a.example');
    const { revision } = await readConfigHead(api.db.query);
    const rows: readonly [(typeof RULES)[number], unknown, string, RegExp][] = [
      [RULES[0], 'a.example,b c', 'entryInvalid', /^field referer_str\[1\] .*but "b c" /],
      [RULES[0], 'a.example, A.example.', 'entryRepeated', /^field referer_str\[1\] .*"A\.example\." duplicates refer/],
      [RULES[0], ['a.example', 'https://A.EXAMPLE/x'], 'entryRepeated', /^field referer_str\[1\] /],
      [RULES[0], ['例子.com', 'xn--fsqu00a.com'], 'entryRepeated', /^field referer_str\[1\] /],
      [RULES[0], ['a,b'], 'fieldInvalid', /^field referer_str\[0\] /],
      [RULES[0], 'a'.repeat(1025), 'fieldInvalid', /^field referer_str\[0\] /],
      [RULES[1], 'curl,CURL', 'entryRepeated', /^field ua_str\[1\] .*"CURL" duplicates ua_str\[0\]/],
      [RULES[1], 'a'.repeat(257), 'fieldInvalid', /^field ua_str\[0\] .*256 characters/],
      [RULES[1], ['Mozilla/5.0 (KHTML, like Gecko)'], 'fieldInvalid', /^field ua_str\[0\] .*without a comma/],
      [RULES[2], '192.0.2.1,192.0.2.256', 'entryInvalid', /^field ip_str\[1\] .*but "192\.0\.2\.256" /],
      [RULES[2], '192.0.2.1/33', 'entryInvalid', /^field ip_str\[0\] /],
      [RULES[2], '2001:db8::/129', 'entryInvalid', /^field ip_str\[0\] /],
      [RULES[2], 'fe80::1%eth0', 'entryInvalid', /^field ip_str\[0\] /],
      [RULES[2], 'a.example', 'entryInvalid', /^field ip_str\[0\] /],
      [RULES[2], '192.0.2.1-9', 'entryInvalid', /^field ip_str\[0\] /],
    ];
    for (const [{ name, list, on }, entries, code, info] of rows) {
      const answer = await mine(`config.set${name}`, { domain_id: id, ...on, [list]: entries });
      const where = `${name} ${JSON.stringify(entries).slice(0, 100)} → ${JSON.stringify(answer.body)}`;
      assert.equal(answer.errorCode, code, where);
      assert.match(String(answer.body['info']), info, where);
      assert.equal(answer.body['data'], false);
    }
    const types: readonly [RouteName, Record<string, unknown>, RegExp][] = [
      ['config.setReferer', { referer_type: 3 }, /^field referer_type .*2 \(whitelist\)/],
      ['config.setReferer', { referer_type: 1, referer_blank: 2, referer_str: 'a.example' }, /^field referer_blank /],
      ['config.setUserAgent', { ua_control: 2, ua_str: 'a' }, /^field ua_control /],
      ['config.setIp', { ip_type: 2, ip_str: '192.0.2.1' }, /^field ip_type .*0 \(off\) or 1 \(blacklist\)/],
    ];
    for (const [name, request, info] of types) {
      const answer = await mine(name, { domain_id: id, ...request });
      assert.equal(answer.errorCode, 'fieldInvalid');
      assert.match(String(answer.body['info']), info);
    }
    assert.equal((await readConfigHead(api.db.query)).revision, revision, 'nothing was published');
  });
});

function getterOf(setter: RouteName): RouteName {
  const rule = RULES.find(({ name }) => setter.endsWith(`.set${name}`));
  assert.ok(rule !== undefined);
  return `config.get${rule.name}`;
}
